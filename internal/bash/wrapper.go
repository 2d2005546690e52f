package bash

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// unwrap takes a wrapper off an invocation and goes on with what it starts.
type unwrap func(w *walker, inv invocation)

// wrapper says how a program that starts another one reads its options. The
// tables are written from the manuals named beside them in wrappers.go.
type wrapper struct {
	names []string
	// flags and valued are the short options without and with a value.
	flags, valued string
	// long are the long options; a trailing "=" marks those with a value of
	// their own word, "[=" those whose value only stands after "=".
	long []string
	// before counts the operands before the command.
	before int
	// numeric lets -5 be an option (nice).
	numeric bool
	// assigns lets NAME=value operands stand before the command (env, sudo).
	assigns bool
	// once means that no option may follow such an operand (env).
	once bool
	// joined means that the rest of the words is joined to a shell script.
	joined bool
	// elevated and remote say what the wrapper changes.
	elevated, remote bool
	// outer keeps the wrapper's own invocation as a part, too.
	outer bool
	// writes are options that name a file which it writes.
	writes []string
	// opaque are options that make it opaque, with the reason.
	opaque map[string]string
}

// wrapperOf finds the wrapper of a program by its base name.
func wrapperOf(name string) (unwrap, bool) {
	base := path.Base(name)
	switch base {
	case "bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "rbash":
		return (*walker).shellProgram, true
	case "fish", "csh", "tcsh", "pwsh", "powershell", "cmd", "nu", "xonsh", "elvish":
		return (*walker).foreignShell, true
	case "env":
		return (*walker).envCommand, true
	case "find", "fd", "fdfind", "gfind":
		return (*walker).find, true
	case "xargs", "gxargs":
		return (*walker).xargs, true
	case "parallel":
		return (*walker).parallel, true
	case "flock":
		return (*walker).flock, true
	case "script":
		return (*walker).scriptCommand, true
	case "su", "runuser":
		return (*walker).su, true
	case "busybox", "toybox":
		return (*walker).busybox, true
	case "docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose", "podman-compose":
		return (*walker).container, true
	case "at", "batch":
		return (*walker).later, true
	}
	if strings.Contains(base, ".so") && (strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld-musl")) || base == "ld.so" {
		return (*walker).loader, true
	}
	if spec := wrapperSpec(base); spec != nil {
		return func(w *walker, inv invocation) { w.plainWrapper(spec, inv) }, true
	}
	return nil, false
}

// parsed is what a wrapper's options say.
type parsed struct {
	options map[string]string // by name with dashes; flags map to ""; the last one counts
	list    []option          // all of them
	before  []field           // operands in front of the command
	rest    []field           // the command
	bad     cardea.Opaque     // why the options could not be read; without a code they could
}

// option is one option of a wrapper, with its value.
type option struct{ name, value string }

func (p *parsed) set(name, value string) {
	p.options[name] = value
	p.list = append(p.list, option{name, value})
}

// option is the value of an option, by the first of its names that is given.
func (p *parsed) option(names ...string) (string, bool) {
	for _, n := range names {
		if v, ok := p.options[n]; ok {
			return v, true
		}
	}
	return "", false
}

// parse reads a wrapper's options up to the command, as getopt does with "+".
func (s *wrapper) parse(words []field) parsed {
	p := parsed{options: map[string]string{}}
	for len(words) > 0 {
		f := words[0]
		switch {
		case f.Static && f.Text == "--":
			return s.parseOperands(p, words[1:])
		case f.Static && len(f.Text) > 1 && f.Text[0] == '-':
			used, ok := s.option(words, &p)
			if !ok {
				p.bad = cardea.Opaque{Code: cardea.OpaqueUnknownOption, Text: f.Text, Reason: "an option of the wrapper is not known"}
				return p
			}
			words = words[used:]
		case s.assigns && isAssignment(f):
			p.before, words = append(p.before, f), words[1:]
			if s.once {
				p.before, p.rest = takeAssignments(p.before, words)
				return p
			}
		case len(p.before) >= s.before:
			p.rest = words
			return p
		case !f.Static && f.MayBeOption && f.MaySplit:
			p.bad = cardea.Opaque{Code: cardea.OpaqueOutsideOption, Text: f.Text, Reason: "an option of the wrapper comes from outside of the line"}
			return p
		default:
			p.before, words = append(p.before, f), words[1:]
		}
	}
	return p
}

// parseOperands reads what stands behind "--".
func (s *wrapper) parseOperands(p parsed, words []field) parsed {
	n := min(max(s.before-len(p.before), 0), len(words))
	p.before, words = append(p.before, words[:n]...), words[n:]
	if s.assigns {
		p.before, words = takeAssignments(p.before, words)
	}
	p.rest = words
	return p
}

// option reads the option that the first word is: how many words it takes, and
// whether it is known.
func (s *wrapper) option(words []field, p *parsed) (int, bool) {
	text := words[0].Text
	switch {
	case strings.HasPrefix(text, "--"):
		return s.longOption(text, words, p)
	case s.numeric && plainNumber(text[1:]):
		return 1, true
	}
	return s.cluster(text, words, p)
}

// isAssignment reports NAME=value; where the value is not known, the word must
// be one and spell the name plainly.
func isAssignment(f field) bool {
	name, _, ok := strings.Cut(f.Text, "=")
	if !f.Static {
		return ok && plainName(name) && !f.MaySplit
	}
	return ok
}

// takeAssignments moves assignments from the front of words.
func takeAssignments(before, words []field) ([]field, []field) {
	for len(words) > 0 && isAssignment(words[0]) {
		before, words = append(before, words[0]), words[1:]
	}
	return before, words
}

// longOption reads --name, --name=value, --name value and abbreviations.
func (s *wrapper) longOption(text string, words []field, p *parsed) (int, bool) {
	name, val, has := strings.Cut(text[2:], "=")
	match, takes, count := "", 0, 0
	for _, l := range s.long {
		base := strings.TrimRight(l, "=[")
		if base != name && !strings.HasPrefix(base, name) {
			continue
		}
		count++
		kind := 0
		if strings.HasSuffix(l, "[=") {
			kind = 2
		} else if strings.HasSuffix(l, "=") {
			kind = 1
		}
		if base == name {
			match, takes, count = base, kind, 1
			break
		}
		match, takes = base, kind
	}
	if count != 1 {
		return 0, false
	}
	if takes == 1 && !has {
		if len(words) < 2 || !words[1].Static {
			return 0, false
		}
		p.set("--"+match, words[1].Text)
		return 2, true
	}
	p.set("--"+match, val)
	return 1, true
}

// cluster reads -abc, -n5 and -n 5.
func (s *wrapper) cluster(text string, words []field, p *parsed) (int, bool) {
	for i := 1; i < len(text); i++ {
		c := text[i : i+1]
		switch {
		case strings.Contains(s.valued, c):
			if i+1 < len(text) {
				p.set("-"+c, text[i+1:])
				return 1, true
			}
			if len(words) < 2 || !words[1].Static {
				return 0, false
			}
			p.set("-"+c, words[1].Text)
			return 2, true
		case strings.Contains(s.flags, c):
			p.set("-"+c, "")
		default:
			return 0, false
		}
	}
	return 1, true
}

// plainWrapper handles every wrapper that a table describes.
func (w *walker) plainWrapper(s *wrapper, inv invocation) {
	p := s.parse(inv.argv[1:])
	name := path.Base(inv.argv[0].Text)
	if p.bad.Code != "" {
		w.spot(p.bad.Text, p.bad.Code, p.bad.Reason)
		w.emitProgram(inv)
		return
	}
	for opt, reason := range s.opaque {
		if v, ok := p.options[opt]; ok && (opt != "-o" || name != "ssh" || sshOptionRuns(v)) {
			w.spot(opt, cardea.OpaqueCodeOption, reason)
		}
	}
	if s.outer || len(p.rest) == 0 {
		outer := inv
		outer.elevated = outer.elevated || s.elevated && len(p.rest) == 0
		w.emitProgram(outer)
		if len(p.rest) == 0 {
			return
		}
		inv.access = nil
	}
	inv.argv = p.rest
	inv.wrappers = append(slices.Clone(inv.wrappers), name)
	inv.elevated = inv.elevated || s.elevated
	inv.remote = inv.remote || s.remote
	inv.program = true
	if s.assigns {
		for _, f := range p.before {
			inv.assigns = append(slices.Clone(inv.assigns), assignOf(f))
		}
	}
	for _, o := range p.list {
		if slices.Contains(s.writes, o.name) {
			inv.access = slices.Concat(inv.access, w.paths().Open(cardea.Write, o.value, false))
		}
	}
	if s.joined {
		w.joinedScript(name, inv)
		return
	}
	w.start(inv)
}

func assignOf(f field) cardea.Assign {
	name, val, _ := strings.Cut(f.Text, "=")
	return cardea.Assign{Name: name, Value: val, Static: f.Static, Class: knowledge.VariableClass(name)}
}

// joinedScript handles wrappers that join their words and hand them to a
// shell.
func (w *walker) joinedScript(name string, inv invocation) {
	var text []string
	for _, f := range inv.argv {
		if !f.Static {
			w.spot(f.Text, cardea.OpaqueScript, "a shell reads what comes from outside of the line")
			w.emitProgram(inv)
			return
		}
		text = append(text, f.Text)
	}
	w.childShell(name, strings.Join(text, " "), nil, inv)
}

// sshOptionRuns reports whether an -o of ssh runs a command on this machine.
func sshOptionRuns(v string) bool {
	v = strings.ToLower(strings.TrimSpace(v))
	for _, k := range []string{"proxycommand", "localcommand", "permitlocalcommand", "knownhostscommand", "pkcs11provider", "securitykeyprovider", "include", "match"} {
		if strings.HasPrefix(v, k) {
			return true
		}
	}
	return false
}
