package shell

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
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
		return (*walker).shell, true
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
	case "docker", "podman", "nerdctl", "kubectl", "oc":
		return (*walker).container, true
	case "at", "batch":
		return (*walker).later, true
	}
	if strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld-musl") || base == "ld.so" {
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
	bad     string            // why the options could not be read
	badText string
}

// option is one option of a wrapper, with its value.
type option struct{ name, value string }

func (p *parsed) set(name, value string) {
	p.options[name] = value
	p.list = append(p.list, option{name, value})
}

// parse reads a wrapper's options up to the command, as getopt does with "+".
func (s *wrapper) parse(words []field) parsed {
	p := parsed{options: map[string]string{}}
	fail := func(f field, reason string) parsed {
		p.bad, p.badText = reason, f.Text
		return p
	}
	for len(words) > 0 {
		f := words[0]
		if !f.Static {
			if s.assigns && isAssignment(f) {
				p.before, words = append(p.before, f), words[1:]
				if s.once {
					p.before, p.rest = takeAssignments(p.before, words)
					return p
				}
				continue
			}
			if f.Dash || len(p.before) >= s.before && f.Loose {
				if len(p.before) < s.before && !f.Loose {
					p.before, words = append(p.before, f), words[1:]
					continue
				}
				if len(p.before) >= s.before {
					break
				}
				return fail(f, "an option of the wrapper comes from outside of the line")
			}
			if len(p.before) >= s.before {
				break
			}
			p.before, words = append(p.before, f), words[1:]
			continue
		}
		text := f.Text
		switch {
		case text == "--":
			words = words[1:]
			for len(p.before) < s.before && len(words) > 0 {
				p.before, words = append(p.before, words[0]), words[1:]
			}
			if s.assigns {
				p.before, words = takeAssignments(p.before, words)
			}
			p.rest = words
			return p
		case strings.HasPrefix(text, "--"):
			used, ok := s.longOption(text, words, &p)
			if !ok {
				return fail(f, "an option of the wrapper is not known")
			}
			words = words[used:]
			continue
		case len(text) > 1 && text[0] == '-' && s.numeric && plainNumber(text[1:]):
			words = words[1:]
			continue
		case len(text) > 1 && text[0] == '-':
			used, ok := s.cluster(text, words, &p)
			if !ok {
				return fail(f, "an option of the wrapper is not known")
			}
			words = words[used:]
			continue
		case s.assigns && isAssignment(f):
			p.before, words = append(p.before, f), words[1:]
			if s.once {
				p.before, p.rest = takeAssignments(p.before, words)
				return p
			}
			continue
		case len(p.before) < s.before:
			p.before, words = append(p.before, f), words[1:]
			continue
		}
		break
	}
	p.rest = words
	return p
}

// isAssignment reports NAME=value; where the value is not known, the word must
// be one and spell the name plainly.
func isAssignment(f field) bool {
	name, _, ok := strings.Cut(f.Text, "=")
	if !f.Static {
		return ok && plainName(name) && !f.Loose
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
	if p.bad != "" {
		w.spot(p.badText, p.bad)
		w.emitProgram(inv)
		return
	}
	for opt, reason := range s.opaque {
		if v, ok := p.options[opt]; ok && (opt != "-o" || name != "ssh" || sshOptionRuns(v)) {
			w.spot(opt, reason)
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
			inv.access = append(slices.Clone(inv.access), w.access(cardea.Write, o.value, true, false))
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
	return cardea.Assign{Name: name, Value: val, Static: f.Static, Class: envClass(name)}
}

// joinedScript handles wrappers that join their words and hand them to a
// shell.
func (w *walker) joinedScript(name string, inv invocation) {
	var text []string
	for _, f := range inv.argv {
		if !f.Static {
			w.spot(f.Text, "a shell reads what comes from outside of the line")
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

// shell handles bash and its kin: -c text is a script, so is a literal
// standard input.
func (w *walker) shell(inv invocation) {
	name := path.Base(inv.argv[0].Text)
	words, command, stdin := w.shellOptions(inv.argv[1:])
	switch name {
	case "zsh", "ksh", "mksh":
		if command || stdin || len(words) == 0 {
			w.spot(inv.text, "a command in the language of another shell")
		}
	}
	switch {
	case command && len(words) == 0, len(words) > 0 && !words[0].Static:
		if len(words) > 0 {
			w.spot(words[0].Text, "what the shell runs comes from outside of the line")
			w.runs()
		}
		w.emitProgram(inv)
	case command:
		inv.wrappers = append(slices.Clone(inv.wrappers), name)
		w.childShell(name+" -c", words[0].Text, words[1:], inv)
	case len(words) > 0 && !stdin && descriptorFile(words[0].Text):
		w.spot(words[0].Text, "a shell reads its commands from a descriptor")
		w.emitProgram(inv)
	case len(words) > 0 && !stdin:
		w.emitProgram(inv) // a script file, a program like any other
	case w.stdin.kind == literal:
		inv.wrappers = append(slices.Clone(inv.wrappers), name)
		begin := len(w.parts)
		w.childShell(name, w.stdin.text, append([]field{inv.argv[0]}, words...), inv)
		if strings.Contains(strings.TrimSpace(w.stdin.text), "\n") && (slices.ContainsFunc(w.parts[begin:], readsScript) || strings.Contains(w.stdin.text, "select")) {
			w.opaqueLine(shorten(inv.text), "a shell reads its script from its standard input, and commands in it may read lines of it too")
		}
	default:
		w.spot(inv.text, "a shell reads its commands from its standard input")
		w.emitProgram(inv)
	}
}

// descriptorFile reports files that are what the shell has open already.
func descriptorFile(name string) bool {
	name = path.Clean(name)
	return name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/") && strings.Contains(name, "/fd/")
}

// shellOptions reads the options of bash and its kin: what is left, and whether
// -c and -s were there.
func (w *walker) shellOptions(words []field) (rest []field, command, stdin bool) {
	for len(words) > 0 {
		f := words[0]
		if !f.Static {
			break
		}
		if f.Text == "--" || f.Text == "-" {
			words = words[1:]
			break
		}
		if len(f.Text) < 2 || f.Text[0] != '-' && f.Text[0] != '+' {
			break
		}
		words = words[1:]
		if strings.HasPrefix(f.Text, "--") {
			switch f.Text {
			case "--norc", "--noprofile", "--login", "--verbose", "--version", "--help":
			case "--rcfile", "--init-file":
				if len(words) > 0 {
					words = words[1:]
				}
				fallthrough
			default:
				w.spot(f.Text, "an option of the shell that changes what it runs")
			}
			continue
		}
		for _, c := range f.Text[1:] {
			switch c {
			case 'c':
				command = command || f.Text[0] == '-'
			case 's':
				stdin = true
			case 'e', 'u', 'x', 'v', 'f', 'l', 'C', 'E', 'T', 'b', 'h', 'm':
				// Start-up files are the person's own.
			case 'o', 'O':
				if len(words) > 0 {
					if !words[0].Static || c == 'O' || !harmlessSetOption(words[0].Text) {
						w.spot(words[0].Text, "an option of the shell that changes how the script is read")
					}
					words = words[1:]
				}
			default:
				w.spot(f.Text, "an option of the shell that changes how the script is read")
			}
		}
	}
	return words, command, stdin
}

// readsScript reports whether a command in a script that the shell reads from
// its standard input may take a part of the script away. Those named here read
// nothing, or all of it.
func readsScript(p cardea.Part) bool {
	name := ""
	if len(p.Argv) > 0 {
		name = path.Base(p.Argv[0].Text)
	}
	if p.Null {
		return name == "read" || name == "mapfile" || name == "readarray"
	}
	switch name {
	case "echo", "printf", "pwd", "cat", "ls", "mkdir", "rmdir", "touch", "chmod", "cp", "date", "true", "false", "export", "cd":
		return false
	}
	return true
}

// childShell walks a script in a new shell: constants of this one are not
// there, exported ones aside, and nothing comes back.
func (w *walker) childShell(via, text string, params []field, inv invocation) {
	w.apart(func() {
		exported, tainted := w.given(), w.cur.tainted
		if w.exportsFuncs && len(w.funcs) > 0 {
			w.opaqueLine(shorten(text), "a shell may get functions of the line")
		}
		posix := w.posix
		defer func() { w.posix = posix }()
		shell, _, _ := strings.Cut(via, " ")
		w.posix = shell != "bash" && shell != "rbash" // the others are, or start, whatever sh is
		vars, home, cwd := w.cur.vars, w.lookup("HOME"), w.lookup("PWD")
		w.cur.vars = map[string]value{}
		// What the line has set is there if it was exported before.
		for name := range vars {
			w.cur.vars[name] = value{kind: dynamic}
		}
		w.cur.vars["HOME"], w.cur.vars["PWD"] = home, cwd
		w.cur.vague, w.cur.allexport = false, false
		for _, a := range slices.Concat(exported, inv.assigns) {
			v := value{kind: dynamic}
			if a.Static && !slices.Contains(inv.dropped, a.Name) && !slices.Contains(inv.dropped, "*") {
				v = value{kind: known, text: a.Value}
			}
			w.cur.vars[a.Name] = v
		}
		w.cur.tainted = tainted
		w.cur.name, w.cur.params, w.cur.paramsOK = via, nil, true
		if cut := strings.IndexByte(via, ' '); cut > 0 {
			w.cur.name = via[:cut]
		}
		for i, f := range params {
			switch {
			case !f.Static:
				w.cur.paramsOK = false
				if i == 0 {
					w.cur.name = ""
				}
			case i == 0:
				w.cur.name = f.Text
			default:
				w.cur.params = append(w.cur.params, f.Text)
			}
		}
		funcs, locals, aliases := w.funcs, w.locals, w.aliases
		w.funcs, w.locals, w.aliases = map[string]*function{}, nil, map[string]string{}
		w.nested(via, text, inv)
		w.uncalled()
		w.funcs, w.locals, w.aliases = funcs, locals, aliases
	})
}

// foreignShell is a shell whose language is not read here.
func (w *walker) foreignShell(inv invocation) {
	for _, f := range inv.argv[1:] {
		if !f.Static || strings.HasPrefix(strings.ToLower(f.Text), "-c") || strings.EqualFold(f.Text, "/c") || strings.HasPrefix(strings.ToLower(f.Text), "-e") {
			w.spot(inv.text, "a command in the language of another shell")
			break
		}
	}
	if len(inv.argv) == 1 && w.stdin.kind != inherited {
		w.spot(inv.text, "a shell reads its commands from its standard input")
	}
	w.emitProgram(inv)
}
