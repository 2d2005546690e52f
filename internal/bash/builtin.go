package bash

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// builtin handles a command that bash runs itself.
type builtin func(w *walker, inv invocation)

// builtinOf finds the commands that change the line's state, that run what
// they are passed, or that have no access. Every other builtin is judged as a
// program of that name.
func builtinOf(name string) (builtin, bool) {
	switch name {
	case ":", "true", "false", "return", "exit", "break", "continue", "wait", "times", "jobs", "logout", "caller", "umask":
		return (*walker).noEffect, true
	case "test", "[":
		return (*walker).testBuiltin, true
	case "printf", "read", "mapfile", "readarray", "getopts", "let", "unset":
		return (*walker).setter, true
	case "set", "shift":
		return (*walker).setBuiltin, true
	case "shopt":
		return (*walker).shopt, true
	case "alias", "unalias":
		return (*walker).aliasBuiltin, true
	case "trap":
		return (*walker).trap, true
	case "eval":
		return (*walker).eval, true
	case "source", ".":
		return (*walker).sourced, true
	case "exec", "command", "builtin", "noglob", "nocorrect":
		return (*walker).prefixBuiltin, true
	case "cd", "pushd", "popd":
		return (*walker).cd, true
	case "dirs":
		return (*walker).dirs, true
	case "export", "readonly", "declare", "typeset", "local":
		return (*walker).declareWords, true
	case "enable", "hash", "complete", "compgen", "bind", "fc", "emulate", "autoload", "zcompile", "zmodload", "sysopen", "history":
		return (*walker).opaqueBuiltin, true
	}
	return nil, false
}

// noEffect is a builtin without access.
func (w *walker) noEffect(inv invocation) {
	switch name := inv.argv[0].Text; name {
	case "jobs", "wait":
		letter := map[string]string{"jobs": "x", "wait": "p"}[name]
		for _, f := range inv.argv[1:] {
			if f.MayBeOption || strings.HasPrefix(f.Text, "-") && strings.Contains(f.Text, letter) {
				w.spot(f.Text, cardea.OpaqueCodeOption, "the option may run a command or evaluate a subscript")
			}
			if name == "wait" {
				w.evaluates(f.Text)
			}
		}
	case "return", "break", "continue":
		w.recordExit()
	}
	if jumps(inv.argv[0].Text) || inv.argv[0].Text == "exit" {
		w.tooMany(inv)
	}
	w.emitBuiltin(inv, len(inv.access) == 0)
	if knowledge.Has(form.FindsPrograms, inv.argv[0].Text) && !w.used.overLimit {
		w.notePrinted(inv.argv)
	}
}

// tooMany notes that bash gives up the line where a builtin gets more than one number.
func (w *walker) tooMany(inv invocation) {
	if len(inv.argv) > 2 || len(inv.argv) == 2 && !decimal(inv.argv[1].Text) {
		w.mayAbort()
	}
}

// emitBuiltin makes a part of a builtin.
func (w *walker) emitBuiltin(inv invocation, null bool) {
	p := cardea.Part{Wrappers: inv.wrappers, Elevated: inv.elevated, Start: inv.start, Assigns: inv.assigns,
		Opaque: slices.Clone(*w.cmd.spots), Access: inv.access}
	if p.Text, p.Argv = spelled(inv.argv); len(inv.argv) > 0 && inv.argv[0].Static {
		p.Command = []string{inv.argv[0].Text}
	}
	for i, a := range p.Assigns {
		if splitsInput(a.Name, p.Command) {
			p.Assigns = slices.Clone(p.Assigns)
			p.Assigns[i].Class = cardea.EnvSafe
		}
	}
	p.NoEffect = null && !slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Class != cardea.EnvSafe })
	for i := 1; i < len(inv.argv); i++ {
		p.Operands = append(p.Operands, i)
	}
	p.Opaque = append(p.Opaque, variableSpots(p.Assigns)...)
	w.emit(p)
}

// splitsInput reports IFS in front of a builtin that splits its input by it,
// and does nothing else with it.
func splitsInput(name string, command []string) bool {
	return name == "IFS" && len(command) == 1 && (command[0] == "read" || command[0] == "mapfile" || command[0] == "readarray")
}

// testBuiltin handles test and [, which evaluate a subscript after -v and -R.
// A word that is not known may be such an operator, unless one of a known name
// stands behind it; one that may become several words may be both.
func (w *walker) testBuiltin(inv invocation) {
	words := inv.argv[1:]
	for i, f := range words {
		if f.MaySplit && !f.MayVanish && !namesFiles(f) {
			w.spot(f.Text, cardea.OpaqueEvaluated, evaluates)
			continue
		}
		if i+1 == len(words) {
			break
		}
		next := words[i+1]
		if f.Static && f.Text != "-v" && f.Text != "-R" || next.Static && harmlessOperand(next.Text) {
			continue
		}
		if !f.Static && !next.Static && i > 0 && takesOperand(words[i-1]) {
			continue // [ -n "$a" "$b" ] is an error
		}
		w.spot(next.Text, cardea.OpaqueEvaluated, evaluates)
	}
	w.noEffect(inv)
}

// namesFiles reports a pattern for names of files, none of which is -v or -R.
func namesFiles(f field) bool {
	if !f.Glob || f.Pattern != f.Text || strings.ContainsAny(f.Text, "[(") {
		return false
	}
	pattern := strings.ToLower(f.Text) // names may be matched without regard to case
	return !wildcard(pattern, "-v") && !wildcard(pattern, "-r")
}

// harmlessOperand reports operators, plain names and numbers: words that
// evaluate nothing as the name of a variable.
func harmlessOperand(s string) bool {
	return !strings.Contains(s, "[") || s == "["
}

// takesOperand reports an operator behind which an operand stands. Behind -a and -o,
// which connect, another operator may.
func takesOperand(f field) bool {
	return f.Static && strings.HasPrefix(f.Text, "-") && f.Text != "-a" && f.Text != "-o"
}

// setter handles builtins that set variables by name; a name with a subscript
// is evaluated.
func (w *walker) setter(inv invocation) {
	name := inv.argv[0].Text
	words := inv.argv[1:]
	null := name != "printf" && len(inv.access) == 0
	switch name {
	case "let":
		for _, f := range words {
			if f.Static {
				w.arithText(f.Text, f.Text)
			} else {
				w.spot(f.Text, cardea.OpaqueEvaluated, evaluates)
			}
		}
	case "printf":
		words = withoutDashes(words)
		if len(words) > 0 && words[0].Text == "-v" && words[0].Static {
			if len(words) > 1 {
				w.setByName(words[1], w.about(name, words[2:]))
			}
			null = len(inv.access) == 0
		} else if len(words) > 1 && (!words[0].Static || countsOutput(words[0].Text)) {
			w.spot(words[0].Text, cardea.OpaqueCodeOption, "the format may set a variable: %n")
		} else if len(words) > 0 && !words[0].Static && words[0].MayBeOption {
			w.spot(words[0].Text, cardea.OpaqueCodeOption, "the option may name a variable, whose subscript "+"bash evaluates")
		} else if len(words) > 0 && strings.HasPrefix(words[0].Text, "-v") && len(words[0].Text) > 2 {
			w.setByName(field{Word: cardea.Word{Text: words[0].Text[2:], Static: words[0].Static}}, w.about(name, words[1:]))
		}
	case "unset":
		w.unset(words)
	case "getopts":
		w.readNames(name, withoutDashes(words), inv.assigns)
	default: // read, mapfile, readarray
		w.readNames(name, words, inv.assigns)
	}
	if name == "printf" && !null {
		w.emitProgram(inv)
		return
	}
	w.emitBuiltin(inv, null)
}

// unset takes variables away, or functions: without an option what there is, and with one
// that is not known nothing.
func (w *walker) unset(words []field) {
	variables := true
	for _, f := range words {
		switch {
		case f.Static && strings.HasPrefix(f.Text, "-"):
			w.shell.unsetsFuncs = w.shell.unsetsFuncs || f.Text != "-v"
			variables = variables && (f.Text == "-v" || f.Text == "--")
			if strings.Contains(f.Text, "n") {
				w.spot(f.Text, cardea.OpaqueDeclaration, "the declaration changes how names are read")
			}
		case !f.Static || !plainName(f.Text):
			w.spot(f.Text, cardea.OpaqueEvaluated, evaluates)
		case !variables || w.shell.locals != nil || w.isFixed(f.Text): // in a function, one that it hides may show
			w.set(f.Text, either(w.cur.vars.get(f.Text), value{kind: unset}))
		default:
			w.set(f.Text, value{kind: unset})
		}
		w.shell.unsetsFuncs = w.shell.unsetsFuncs || w.shell.funcs[f.Text] != nil
		if f.Static && counter(f.Text) {
			w.shell.traits[f.Text] |= odd // it is a variable like others from here on
		}
	}
	if w.shell.locals != nil || w.shell.unsetsFuncs && len(w.shell.funcs) > 0 {
		w.opaqueLine("unset", cardea.OpaqueConstruct, "it removes a function, or a variable inside of one, and what the name means then is not followed")
	}
}

// attached returns the rest of an option's word after its letter, if there is one.
func attached(f field, at int) []field {
	if at >= len(f.Text) {
		return nil
	}
	return []field{knowledge.Literal(f.Text[at:])}
}

// setList sets the array that the first of some words names to what is not known. That the
// variable is one counts from here on.
func (w *walker) setList(words []field, may []string) {
	if len(words) == 0 {
		return
	}
	f := words[0]
	if f.Static && plainName(f.Text) {
		w.shell.traits[f.Text] |= listed
	}
	w.setByName(f, may...)
}

// setByName sets a variable to what is not known, and may be one of some texts.
func (w *walker) setByName(f field, may ...string) {
	if !f.Static || !plainName(f.Text) {
		w.spot(f.Text, cardea.OpaqueEvaluated, evaluates)
		return
	}
	w.set(f.Text, w.someOf(may))
}

// countsOutput reports a format of printf with %n, which sets the variable that
// its argument names.
func countsOutput(format string) bool {
	return slices.ContainsFunc(strings.Split(format, "%")[1:], func(directive string) bool {
		return strings.HasPrefix(strings.TrimLeft(directive, "-+ #0123456789.*'hlLqjzt"), "n")
	})
}

// readNames handles the names that read and its kin set.
func (w *walker) readNames(name string, words []field, assigns []cardea.Assign) {
	in := w.takes(name, words, assigns)
	from := w.inputFrom()
	withValue := map[string]string{"read": "adinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc", "getopts": ""}[name]
	for i := 0; i < len(words); i++ {
		f := words[i]
		if f.Static && strings.HasPrefix(f.Text, "-") && len(f.Text) > 1 && name != "getopts" {
			last := f.Text[len(f.Text)-1]
			at := strings.IndexAny(f.Text[1:], withValue)
			if at >= 0 && f.Text[1+at] == 'C' {
				w.spot(f.Text, cardea.OpaqueCodeOption, "mapfile -C runs a command")
			}
			if at >= 0 && f.Text[1+at] == 'a' && name == "read" {
				w.setList(append(attached(f, 2+at), words[i+1:]...), in.all())
			}
			if at >= 0 && f.Text[1+at] == 'u' {
				from = w.shell.descriptors[descriptorName(cmp.Or(f.Text[2+at:], words[min(i+1, len(words)-1)].Text))]
			}
			if strings.IndexByte(withValue, last) >= 0 && at == len(f.Text)-2 {
				i++
				w.oneWord(words[min(i, len(words)):])
			}
			continue
		}
		if name == "getopts" && i == 0 {
			w.oneWord(words) // the option string
			continue
		}
		if name == "getopts" && i > 1 {
			break
		}
		if name == "getopts" {
			w.cur.vars.set("OPTARG", w.someOf(w.options(words[min(len(words), 2):])))
		}
		if name == "mapfile" || name == "readarray" {
			w.setList(words[i:], in.all())
		} else {
			w.setByName(f, in.next()...)
		}
		if name != "getopts" && from[0] < from[1] {
			w.shell.origins[f.Text] = from
		}
	}
	if name == "read" && w.reads(words) && !slices.ContainsFunc(assigns, func(a cardea.Assign) bool { return !a.Static || a.Value != "" }) {
		if s := w.fromSearch(len(words) > 2); s != nil {
			v := w.cur.vars.get(words[len(words)-1].Text)
			w.set(words[len(words)-1].Text, value{kind: dynamic, found: s, may: v.may})
		}
	}
}

// withoutDashes takes off what ends the options of a builtin without any.
func withoutDashes(words []field) []field {
	if len(words) > 0 && words[0].Static && words[0].Text == "--" {
		return words[1:]
	}
	return words
}

// oneWord looks at the word in front, which is passed over: where it is several or
// none, words that bash evaluates stand elsewhere.
func (w *walker) oneWord(words []field) {
	if len(words) > 0 && words[0].MaySplit {
		w.spot(words[0].Text, cardea.OpaqueEvaluated, evaluates)
	}
}

// reads reports words of read that put a whole line into one variable.
func (w *walker) reads(words []field) bool {
	n := len(words)
	whole := n == 1 || n == 2 && words[0].Text == "-r" || n == 4 && words[0].Text == "-r" && words[1].Text == "-d" && words[2].Text == ""
	return whole && words[n-1].Static && plainName(words[n-1].Text)
}

func (w *walker) aliasBuiltin(inv invocation) {
	for _, f := range inv.argv[1:] {
		name, text, ok := strings.Cut(f.Text, "=")
		switch {
		case inv.argv[0].Text == "unalias":
		case strings.HasPrefix(f.Text, "-") && strings.ContainsAny(f.Text, "gs"):
			w.spot(f.Text, cardea.OpaqueAlias, "an alias that only zsh has stands for words that are no command")
		case !f.Static:
			w.spot(f.Text, cardea.OpaqueScript, "what the alias stands for comes from outside of the line")
		case ok:
			if knowledge.Known(name) || takenApart(name) {
				w.shadows(name)
			}
			if !plainAlias(name, text) || w.shell.funcs[name] != nil {
				w.opaqueLine(f.Text, cardea.OpaqueAlias, "an alias that stands for more than one plain command")
			}
			w.shell.aliases[name] = text
			if w.shell.hasHandler { // a handler may mean it
				w.forgetAll()
			}
			w.runLater("alias "+name, text)
		}
	}
	w.noEffect(inv)
}

// plainAlias reports whether an alias does nothing but put one command in the
// place of another: bash replaces it before it looks at the grammar.
func plainAlias(name, text string) bool {
	if reserved(name) || slices.Contains([]string{"let", "declare", "typeset", "export", "readonly", "local", "eval", "set", "unset", "trap", "source", "exec", "command", "builtin"}, name) {
		return false
	}
	if strings.Trim(name, delimiterBytes) != "" || strings.ContainsAny(name, "!{}[]()") || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t") {
		return false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(f.Stmts) != 1 || strings.ContainsAny(text, "\n;&#") {
		return false
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && len(f.Stmts[0].Redirs) == 0
}

// eval runs its words as a script in this shell.
func (w *walker) eval(inv invocation) {
	words := withoutDashes(inv.argv[1:])
	var text []string
	for _, f := range words {
		if !f.Static {
			w.spot(f.Text, cardea.OpaqueEval, "eval runs what comes from outside of the line")
			w.runsPending()
			w.emitProgram(inv)
			return
		}
		text = append(text, f.Text)
	}
	w.nested("eval", strings.Join(text, " "), inv)
}

// runsPending marks what flows into the current command as code.
func (w *walker) runsPending() {
	at := len(w.out.Parts)
	for _, from := range w.cmd.pending {
		w.out.Pipes = append(w.out.Pipes, Pipe{From: from.at, To: [2]int{at, at + 1}, Code: true})
	}
}

// sourced runs a file's commands in this shell.
func (w *walker) sourced(inv invocation) {
	inv.access = slices.Clone(inv.access)
	if len(inv.argv) > 1 {
		f := inv.argv[1]
		w.spot(f.Text, cardea.OpaqueSourcedFile, "it runs the commands of a file in this shell")
		if f.Static {
			inv.access = append(inv.access, w.paths().Open(cardea.Execute, f.Text, false)...)
		} else {
			w.runsPending()
		}
	}
	if w.emitBuiltin(inv, false); !w.used.overLimit {
		w.noteInput()
	}
}

var execSpec = wrapper{Options: []string{"-c", "-l"}, ValueOptions: []string{"-a"}}

// prefixBuiltin handles exec, command, builtin and zsh's noglob, nocorrect.
func (w *walker) prefixBuiltin(inv invocation) {
	name := inv.argv[0].Text
	args := inv.argv[1:]
	if name == "exec" {
		p := execSpec.parse(args)
		if w.unread(p, inv) {
			return
		}
		inv.replaced(p.list)
		args = p.rest
	} else {
		rest, looks, fails := prefixOptions(name, args)
		if args = rest; looks {
			w.noEffect(inv)
			return
		}
		inv.mayFail = inv.mayFail || fails
	}
	if len(args) == 0 {
		if name == "exec" {
			w.shellReads()
		}
		if len(inv.access) > 0 || len(*w.cmd.spots) > 0 {
			w.emitBuiltin(inv, false)
		} else {
			w.noEffect(inv)
		}
		return
	}
	inv.argv = args
	inv.wrappers = append(slices.Clone(inv.wrappers), name)
	switch name {
	case "exec":
		inv.program = true
	case "command", "builtin":
		// Functions do not count, builtins do.
		if args[0].Static {
			if b, ok := builtinOf(args[0].Text); ok {
				w.builtin(b, inv)
				return
			}
		}
		inv.program = true
	}
	w.unless(inv.mayFail, func() { w.start(inv) })
}

// shellReads notes that the shell itself reads from now on what the current command would:
// exec < <(a).
func (w *walker) shellReads() {
	w.fed += w.cmd.stdin.text + w.cmd.stdin.may
	if from := w.cmd.stdin.from; from[0] < from[1] {
		w.shell.descriptors["0"] = from
	}
}

// replaced notes what the options of exec change for the program.
func (inv *invocation) replaced(options []option) {
	for _, o := range options {
		inv.renamed = inv.renamed || o.name == "-a" || o.name == "-l"
		if o.name == "-c" {
			inv.dropped = []string{"*"}
		}
	}
}

// prefixOptions reads the options of a prefix that is not exec: what is left, whether it
// only looks the command up, and whether bash may not run it.
func prefixOptions(name string, args []field) (rest []field, looks, fails bool) {
	fails = name == "noglob" || name == "nocorrect" // zsh alone has them
	for len(args) > 0 && args[0].Static && strings.HasPrefix(args[0].Text, "-") && args[0].Text != "-" {
		option := args[0].Text
		args = args[1:]
		if option == "--" {
			break
		}
		looks = looks || name == "command" && strings.ContainsAny(option, "vV")
		fails = fails || name != "command" || strings.Trim(option[1:], "pvV") != ""
	}
	return args, looks, fails
}

// isPlainCommand reports whether a name is neither a function nor an alias of the line.
func (w *walker) isPlainCommand(name string) bool {
	_, alias := w.shell.aliases[name]
	return w.shell.funcs[name] == nil && !alias && w.cur.tainted.Code == ""
}

// prints reports a declaration that shows values instead of setting them, those
// of the environment included.
func prints(c *syntax.DeclClause) bool {
	names := false
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil && strings.Contains(a.Value.Lit(), "p") && strings.HasPrefix(a.Value.Lit(), "-") {
			return true
		}
		names = names || a.Name != nil
	}
	return !names
}
