package bash

import (
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// lookup returns what is known of a variable here.
func (w *line) lookup(name string) shell.Value {
	forgotten, odd := !w.cur.Forgotten.None(), w.cur.Traits[name]&grammar.Odd != 0
	v := w.cur.Vars.Get(name)
	switch {
	case shell.Counter(name) && !forgotten && !odd && !knowledge.IsVariableOf("counter_of_environment", name):
		return shell.SomeNumber
	case forgotten, shellSets(name), odd:
		v = shell.Value{May: w.mayBe(name), Presence: shell.Set | v.Presence&shell.Outside}
		if w.cur.Locals != nil && odd {
			v.Presence |= shell.Outside
		}
	case w.cur.Traits[name]&grammar.Integer != 0:
		if decimal := v.Known() && texts.Decimal(v.Text); !decimal && !v.IsUntouched() && !v.IsUnset() && !v.Has(shell.Numeric) && !v.Has(shell.Evaluable) {
			return shell.Value{Presence: shell.Set | v.Presence&shell.Outside}
		}
	}
	return v
}

// shellSets reports variables that bash itself sets to what the line brings
// along, so that what the line has assigned says nothing.
func shellSets(name string) bool {
	return knowledge.IsVariableOf("set_by_shell", name) || strings.HasPrefix(name, "BASH")
}

// mayBe are the texts that a variable may hold, or one that it is a name for.
func (w *line) mayBe(name string) []string {
	if name == "" {
		return nil
	}
	switch {
	case name == "@", name == "*":
		return append(w.cur.Params[:len(w.cur.Params):len(w.cur.Params)], strings.Join(w.cur.Params, " "))
	case name[0] >= '1' && name[0] <= '9':
		return w.cur.Params
	}
	v := w.cur.Vars.Get(name)
	out := v.Texts()
	if place := knowledge.UsualPlace(w.env.Home, name); v.IsUntouched() && place != "" {
		return []string{place}
	}
	if name == "HOME" && !v.Known() && w.env.Home != "" { // likely the same as in front of the line
		out = append(out[:len(out):len(out)], w.env.Home)
	}
	if w.cur.Traits[name]&grammar.Odd == 0 {
		return out
	}
	for _, other := range out { // declare -l, declare -u, declare -n
		out = append(out[:len(out):len(out)], strings.ToLower(other), strings.ToUpper(other))
		if texts.PlainName(other) && other != name {
			out = append(out, w.cur.Vars.Get(other).Texts()...)
		}
	}
	return w.bounded(out)
}

// bounded bounds a list of texts, each once. Where they are too many, those that could
// name no hidden file and no command go first.
func (w *line) bounded(list []string) []string {
	if len(list) < 2 && (len(list) == 0 || len(list[0]) <= texts.MaxText/16) {
		return list
	}
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s] || len(s) > texts.MaxText/16 {
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	if len(out) > maxLikely {
		out = slices.DeleteFunc(out, func(s string) bool { return !strings.ContainsAny(s, "/.~ ") })
		if len(out) > maxLikely {
			w.unknown(unknown.TooManyTexts, w.src)
			out = out[:maxLikely]
		}
	}
	w.used.words += len(out)
	return out
}

// joined are the texts that one of several and one of others make together. Nothing
// after them leaves them as they are.
func (w *line) joined(begin, more []string) []string {
	switch {
	case len(more) == 0:
		return begin
	case len(more) == 1 && len(begin) == 1:
		return []string{begin[0] + more[0]}
	case len(begin)*len(more) > 4*maxLikely:
		more = more[:1] // one of them stands for all: none is what a normal line says
	}
	return w.bounded(paths.Joined(begin, more))
}

// someOf is a value that is one of some texts, as far as the line tells.
func (w *line) someOf(list []string) shell.Value { return shell.SomeOf(w.bounded(list)) }

// mayHold are the texts that a word is or may become. Of one that begins with something
// that is not known and ends in a path, they are that path.
func (w *line) mayHold(f field) []string {
	switch {
	case f.Static:
		return []string{f.Text}
	case len(f.May) > 0 && !f.MayLose:
		return f.May
	case f.Glob:
		return []string{f.Text}
	}
	text := strings.Trim(f.Text, `"`)
	i := strings.LastIndexAny(text, "$)}`")
	if i < 0 {
		return nil
	}
	rest := text[i+1:]
	if text[i] == '$' {
		rest = strings.TrimLeft(rest, texts.WordBytes)
	}
	if rest = strings.TrimPrefix(rest, `"`); strings.HasPrefix(rest, "/") && rest != "/" {
		return append(f.May[:len(f.May):len(f.May)], rest[1:])
	}
	return f.May
}

// maxLikely is how many texts a word may become.
const maxLikely = shell.MaxTexts

// ifs is the value of IFS, and whether it is known.
func (w *line) ifs() (string, bool) {
	switch v := w.lookup("IFS"); {
	case v.IsUntouched(), v.IsUnset(): // bash takes no IFS from its environment
		return " \t\n", true
	case v.Known():
		blanks := strings.ContainsAny(v.Text, " \t\n")
		return v.Text, !blanks || strings.Trim(v.Text, " \t\n") == "" // both together make no empty words of their own
	}
	return "", false
}

// splitsAtBlanks reports whether nothing but blanks and ends of lines splits words.
func (w *line) splitsAtBlanks() bool {
	ifs, ok := w.ifs()
	return ok && strings.Trim(ifs, " \t\n") == ""
}

// noteOutside notes what the line expands from outside of it: a variable whose name says that it
// holds a secret, or another one, which holds none unless a file of the project sets it.
func (w *line) noteOutside(name string) {
	switch {
	case !texts.PlainName(name) || openName(name) || !w.lookup(name).MayBeOutside():
	case !knowledge.MayHoldSecret(name):
		w.expands = true
	case w.shows == "":
		w.shows = name
	}
}

// openName reports variables whose value is no secret: those of the shell and
// the session, and those that only set modes and levels.
func openName(name string) bool {
	switch name {
	case "HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "PATH", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "UID", "EUID", "PPID",
		"BASH", "BASH_VERSION", "BASHPID", "SHLVL", "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "LINENO", "REPLY", "IFS", "PIPESTATUS",
		"FUNCNAME", "OPTARG", "OPTIND", "TMPDIR", "TEMP", "TMP", "EDITOR", "VISUAL", "PAGER", "DISPLAY", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV",
		"GOPATH", "GOROOT", "GOBIN", "JAVA_HOME", "NVM_DIR", "CARGO_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
		"XDG_RUNTIME_DIR", "CLAUDE_PROJECT_DIR", "TERM_PROGRAM", "GITHUB_ACTIONS", "MANPATH", "INFOPATH", "WSL_DISTRO_NAME":
		return true
	}
	return knowledge.SafeVariable(name) || strings.HasPrefix(name, "LC_")
}
