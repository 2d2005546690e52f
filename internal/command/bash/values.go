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

// lookup returns the value of a variable at this point of the line.
func (w *line) lookup(name string) shell.Value {
	forgotten, unusual := !w.cur.Forgotten.None(), w.cur.Attributes[name]&grammar.Unusual != 0
	v := w.cur.Vars.Get(name)
	switch {
	case shell.Counter(name) && !forgotten && !unusual && !knowledge.IsVariableOf("counter_of_environment", name):
		return shell.SomeNumber
	case forgotten, shellSets(name), unusual:
		v = shell.Value{May: w.mayBe(name), Presence: shell.Set | v.Presence&shell.Outside}
		if w.cur.Locals != nil && unusual {
			v.Presence |= shell.Outside
		}
	case w.cur.Attributes[name]&grammar.Integer != 0:
		if decimal := v.Known() && texts.Decimal(v.Text); !decimal && !v.IsUntouched() && !v.IsUnset() && !v.Has(shell.Numeric) && !v.Has(shell.Evaluable) {
			return shell.Value{Presence: shell.Set | v.Presence&shell.Outside}
		}
	}
	return v
}

// shellSets reports whether bash itself sets a variable to values from the line, so that
// an assigned value says nothing.
func shellSets(name string) bool {
	return knowledge.IsVariableOf("set_by_shell", name) || strings.HasPrefix(name, "BASH")
}

// mayBe returns the texts that a variable may hold, or the variable that it names.
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
	if name == "HOME" && !v.Known() && w.env.Home != "" { // likely the same as before the line
		out = append(out[:len(out):len(out)], w.env.Home)
	}
	if w.cur.Attributes[name]&grammar.Unusual == 0 {
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

// bounded returns a list of distinct texts of bounded size. If there are too many, texts
// that cannot name a hidden file or a command are dropped first.
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

// joined returns each text of begin with each of more appended. If more is empty, it
// returns begin.
func (w *line) joined(begin, more []string) []string {
	switch {
	case len(more) == 0:
		return begin
	case len(more) == 1 && len(begin) == 1:
		return []string{begin[0] + more[0]}
	case len(begin)*len(more) > 4*maxLikely:
		more = more[:1] // one of them stands for all: a normal line has none
	}
	return w.bounded(paths.Joined(begin, more))
}

// someOf returns an unknown value with possible texts.
func (w *line) someOf(list []string) shell.Value { return shell.SomeOf(w.bounded(list)) }

// mayHold returns the texts that a word is or may become. For an unknown beginning with
// a path at the end, it returns that path.
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

// maxLikely is the maximum number of possible texts of a word.
const maxLikely = shell.MaxTexts

// ifs returns the value of IFS, and whether it is known.
func (w *line) ifs() (string, bool) {
	switch v := w.lookup("IFS"); {
	case v.IsUntouched(), v.IsUnset(): // bash reads no IFS from its environment
		return " \t\n", true
	case v.Known():
		blanks := strings.ContainsAny(v.Text, " \t\n")
		return v.Text, !blanks || strings.Trim(v.Text, " \t\n") == "" // a mix of blanks and other characters splits in another way
	}
	return "", false
}

// splitsAtBlanks reports whether only blanks and newlines split words.
func (w *line) splitsAtBlanks() bool {
	ifs, ok := w.ifs()
	return ok && strings.Trim(ifs, " \t\n") == ""
}

// noteOutside records a variable from outside that the line expands. One kind has a name that
// indicates a secret. The other kind holds none, unless a file of the project sets it.
func (w *line) noteOutside(name string) {
	switch {
	case !texts.PlainName(name) || openName(name) || !w.lookup(name).MayBeOutside():
	case !knowledge.MayHoldSecret(name):
		w.expands = true
	case w.shows == "":
		w.shows = name
	}
}

// openName reports whether the value of a variable is no secret: variables of the shell
// and the session, and those that only set modes and levels.
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
