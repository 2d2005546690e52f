package bash

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// envCommand handles env, whose -S splits one word into options and a command
// (GNU coreutils 9.1).
func (w *commands) envCommand(s *wrapper, inv invocation) {
	words := inv.argv[1:]
	dash := slices.IndexFunc(words, func(f field) bool { return f.Static && (f.Text == "-" || !strings.HasPrefix(f.Text, "-")) })
	if dash >= 0 && words[dash].Text == "-" { // it is -i
		words, inv.dropped = slices.Delete(slices.Clone(words), dash, dash+1), append(slices.Clone(inv.dropped), "*")
	}
	p := s.parse(words)
	if w.unread(p, inv) {
		return
	}
	if split, ok := p.option("--split-string", "-S"); ok {
		w.envSplit(s, inv, p, split)
		return
	}
	w.doubts(p)
	inv.assign(p.before)
	if inv.splits && len(p.rest) == 0 {
		w.unknown(unknown.ZshSplits, inv.text)
	}
	inv.dropped = append(slices.Clone(inv.dropped), w.droppedByEnv(p)...)
	if len(p.rest) == 0 {
		inv.program = true
		w.emitProgram(inv) // prints the environment
		return
	}
	inv = inv.behind(s.Name[0], p.rest)
	dir, moved := p.option("--chdir", "-C")
	if !moved {
		w.up.start(inv)
		return
	}
	w.inSubshell(func() {
		to := w.paths().Enter(cardea.Read, dir).Path
		if backtracks(dir) {
			to = ""
		}
		inv.elevated = inv.elevated || !paths.WithinAny(w.env.Roots, to) // cd to there would be a separate part
		w.cur.Enter(to)
		w.up.start(inv)
	})
}

// envSplit starts env again with the words into which -S splits a text.
func (w *commands) envSplit(s *wrapper, inv invocation, p parsed, text string) {
	if strings.ContainsAny(text, "\\'\"$#") {
		w.unknown(unknown.EnvSplits, text)
		text = strings.NewReplacer(`\`, "", "'", "", `"`, "").Replace(text) // roughly
	}
	words := []field{inv.argv[0]}
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) }) {
		words = append(words, knowledge.Literal(s))
	}
	inv.argv = slices.Concat(words, p.before, p.rest)
	w.envCommand(s, inv)
}

// droppedByEnv returns the variables that env removes. "*" stands for all.
func (w *commands) droppedByEnv(p parsed) []string {
	var out []string
	for _, o := range p.options {
		switch o.name {
		case "-u", "--unset":
			out = append(out, o.value)
			if knowledge.VariableClass(o.value) == cardea.EnvDangerous && !knowledge.HarmlessToUnset(o.value) {
				w.unknown(unknown.TakesVariable, o.value, o.value)
			}
		case "-i", "--ignore-environment":
			out = append(out, "*")
		}
	}
	return out
}

// find handles find -exec and similar options, and fd -x. The search itself is also a part.
func (w *commands) find(s *wrapper, inv invocation) {
	from := len(w.out.Parts)
	w.emitProgram(inv)
	search := w.searched([2]int{from, len(w.out.Parts)})
	words := inv.argv[1:]
	for i := 0; i < len(words); i++ {
		f := words[i]
		switch {
		case !f.Static && startsFrom(s, words[i:]):
			w.unknown(unknown.WrapperOptionOutside, f.Text)
			w.emitProgram(inv)
		case f.Static && slices.Contains(s.CommandOptions, f.Text):
			end := i + 1
			for end < len(words) && !(words[end].Static && (words[end].Text == ";" || words[end].Text == "+" && words[end-1].Text == "{}")) {
				end++
			}
			w.foundCommand(s, inv, f.Text, words[i+1:end], end < len(words) && words[end].Text == "+", search)
			i = end
		}
	}
}

// foundCommand handles the command that find starts on its results: on all of them
// together if several is set.
func (w *commands) foundCommand(s *wrapper, inv invocation, option string, words []field, several bool, search *knowledge.Search) {
	inner, found := inv.behind(path.Base(inv.argv[0].Text), nil), w.patternsOfSearch()
	inner.access = nil
	for _, a := range words {
		if a.Static && (strings.Contains(a.Text, "{}") || s.AppendsFile && strings.Contains(a.Text, "{")) { // fd has {.} and others
			if option == "-exec" && a.Text == "{}" {
				a.Found = search
			}
			a.May = found
			a.Word = cardea.Word{Text: a.Text, MaySplit: option == "-X" || several} // a file's name, known only when it runs; it begins with a path
			a.Head, _, _ = strings.Cut(a.Text, "{")
		}
		inner.argv = append(inner.argv, a)
	}
	if s.AppendsFile && !strings.Contains(inv.text, "{}") {
		args := unknownArgs
		args.May = found
		inner.argv = append(inner.argv, args)
	}
	if strings.HasSuffix(option, "dir") {
		entered := w.files.entered
		w.files.entered = w.searchedFolders(inv)
		w.inSubshell(func() { w.cur.Enter(""); w.up.start(inner) }) // in the folder of the file
		w.files.entered = entered
		return
	}
	w.up.start(inner)
}

// searchedFolders returns the folders that a search names. Its results may be directly in them.
func (w *commands) searchedFolders(search invocation) []string {
	var out []string
	for _, a := range w.describe(search).Access {
		for _, dir := range []string{a.Path, a.Spelled} {
			if dir != "" && a.Recursive && a.Kind == cardea.Read && len(out) < maxEntered {
				out = append(out, dir)
			}
		}
	}
	return out
}

// startsFrom reports whether the first of words, which is unknown, may be an option of
// find that starts the words after it.
func startsFrom(s *wrapper, words []field) bool {
	first := words[0]
	spelled := strings.HasPrefix(first.Text, "-")
	if s.AppendsFile {
		return spelled
	}
	return (spelled || first.MayBeOption) && !(first.Glob && knowledge.FindsNoAction(first.Text)) && slices.ContainsFunc(words[1:], func(f field) bool { return f.Static && (f.Text == ";" || f.Text == "+") })
}

// unknownArgs stands for words that a wrapper reads from another source.
var unknownArgs = field{Word: cardea.Word{Text: "{}", MaySplit: true, MayBeOption: true}}

// xargs starts its command with words that it reads (findutils 4.9).
func (w *commands) xargs(s *wrapper, inv invocation) {
	p := s.parse(withoutOpenFiles(inv.argv[1:]))
	if w.unread(p, inv) {
		return
	}
	inv = inv.behind(s.Name[0], slices.Clone(p.rest))
	inv.access = slices.Concat(inv.access, w.optionAccesses(s, p))
	if file, ok := p.option("-a", "--arg-file"); ok {
		w.givesToRead(w.writtenText(file))
	}
	if program, ok := knowledge.WordsOf(form.StartsByDefault, s.Name[0]); ok && len(p.rest) == 0 {
		inv.argv = []field{knowledge.Literal(program[0])}
	}
	replace, _ := p.option("-I", "-J")
	if text, ok := p.option("-i", "--replace"); ok {
		replace = cmp.Or(replace, text, "{}")
	}
	var search *knowledge.Search
	if !slices.ContainsFunc(p.options, splits) {
		search = w.searchOnStdin(endsWithNull(p.options))
	}
	if replace == "" {
		args := unknownArgs
		args.Found, args.May = search, w.inputWords()
		args.MayBeOption = w.cmd.stdin.kind != literal && w.cmd.stdin.kind != inherited || slices.ContainsFunc(p.options, splits) || w.input() != w.cmd.stdin.text ||
			slices.ContainsFunc(args.May, func(text string) bool { return text != "" && text[0] != '/' && !knowledge.PlainStart(text) })
		inv.argv = append(inv.argv, args)
	}
	for i, f := range inv.argv {
		if replace != "" && f.Static && strings.Contains(f.Text, replace) {
			if f.Text == replace {
				inv.argv[i].Found = search
			}
			inv.argv[i].Word = cardea.Word{Text: f.Text, MayBeOption: strings.HasPrefix(f.Text, replace)}
			inv.argv[i].Head, _, _ = strings.Cut(f.Text, replace)
			for _, word := range w.inputWords() {
				inv.argv[i].May = append(inv.argv[i].May, strings.ReplaceAll(f.Text, replace, word))
			}
		}
	}
	w.up.start(inv)
}

// withoutOpenFiles returns words without -a <(…), which is read like the standard input.
func withoutOpenFiles(words []field) []field {
	out := slices.Clone(words)
	for i, f := range out {
		switch {
		case f.Static && strings.HasPrefix(f.Text, "-"):
		case f.Process && i > 0 && (out[i-1].Text == "-a" || out[i-1].Text == "--arg-file"):
			return slices.Replace(out, i-1, i+1, knowledge.Literal("-r"))
		case f.Head == "--arg-file=" || f.Head == "-a":
			out[i] = knowledge.Literal("-r")
			return out
		}
	}
	return out
}

// endsWithNull reports whether the options of xargs make a NUL end each word.
func endsWithNull(options []option) (null bool) {
	for _, o := range options {
		delimits := o.name == "-d" || o.name == "--delimiter"
		null = o.name == "-0" || o.name == "--null" || delimits && o.value == `\0` || null && !delimits
	}
	return null
}

// splits reports whether an option of xargs makes it read another source than its
// standard input, or split lines.
func splits(o option) bool {
	switch o.name {
	case "-a", "--arg-file":
		return true
	case "-d", "--delimiter":
		return o.value != "\n" && o.value != `\n` && o.value != `\0`
	}
	return false
}

// parallel handles GNU parallel, which builds shell lines from templates and arguments.
// Only its simplest form is read.
func (w *commands) parallel(s *wrapper, inv invocation) {
	w.unknown(unknown.ParallelBuilds, inv.text)
	itself := inv
	if read := w.inputWords(); len(read) > 0 && !slices.ContainsFunc(inv.argv, parallelArgs) {
		args := unknownArgs
		args.May = read
		itself.argv = append(slices.Clone(inv.argv), args)
	}
	w.emitProgram(itself)
	w.cmd.spots = &[]cardea.Opaque{} // one report is enough
	words := inv.argv[1:]
	for len(words) > 0 && words[0].Static && strings.HasPrefix(words[0].Text, "-") {
		words = words[1:]
	}
	end := slices.IndexFunc(words, parallelArgs)
	for i := max(end, 0); i < len(words) && end > 0; i++ {
		if inner := inv.behind(s.Name[0], append(slices.Clone(words[:end]), words[i])); !parallelArgs(words[i]) {
			inner.access = nil
			w.joinedScript(s.Name[0], inner)
		}
	}
}

// parallelArgs reports whether f is the word after which parallel's arguments or their
// files follow.
func parallelArgs(f field) bool { return f.Static && strings.HasPrefix(f.Text, ":::") }

// flock handles flock FILE command and flock FILE -c text (util-linux 2.38).
func (w *commands) flock(s *wrapper, inv invocation) {
	p := s.parse(inv.argv[1:])
	if w.unread(p, inv) {
		return
	}
	if w.doubts(p) {
		w.emitProgram(inv)
		w.cmd.spots = &[]cardea.Opaque{} // one report is enough
	}
	inv.program = true
	if len(p.before) > 0 && !(isDescriptor(p.before[0].Text) && len(p.rest) == 0) {
		inv.access = slices.Concat(inv.access, w.paths().OpenWord(cardea.Write, p.before[0]))
	}
	if len(p.rest) == 2 && p.rest[0].Text == "-c" && p.rest[1].Static {
		p.set("-c", p.rest[1].Text)
	}
	w.runsText(inv, p, p.rest, w.emitProgram)
}

// runsText handles the text of -c in a shell, else the command, else calls other.
func (w *commands) runsText(inv invocation, p parsed, command []field, other func(invocation)) {
	name := path.Base(inv.argv[0].Text)
	if text, ok := p.option("-c", "--command", "--session-command"); ok {
		w.childShell(name+" -c", text, nil, inv.behind(name, inv.argv))
	} else if len(command) > 0 {
		w.up.start(inv.behind(name, command))
	} else {
		other(inv)
	}
}

// scriptCommand handles script -c text (util-linux 2.38). Without -c it starts an
// interactive shell, or on macOS the words after the file.
func (w *commands) scriptCommand(s *wrapper, inv invocation) {
	p, files := s.permuted(inv.argv[1:]) // as GNU getopt permutes them
	if w.unread(p, inv) {
		return
	}
	inv.access = slices.Concat(inv.access, w.scriptLogs(s, p, files))
	inv.program = true
	w.runsText(inv, p, files[min(1, len(files)):], w.terminalShell)
}

// terminalShell handles a program that starts a shell for the user at the terminal.
func (w *commands) terminalShell(inv invocation) {
	w.unknown(unknown.TerminalShell, inv.text)
	w.emitProgram(inv)
}

// scriptLogs returns the writes of script to its log files.
func (w *commands) scriptLogs(s *wrapper, p parsed, files []field) []cardea.Access {
	out := w.optionAccesses(s, p)
	if len(files) > 0 {
		return append(out, w.paths().OpenWord(cardea.Write, files[0])[0])
	}
	if _, named := p.option("-O", "-B", "-I", "--log-out", "--log-io", "--log-in"); !named {
		out = append(out, w.paths().Open(cardea.Write, "typescript", false)...)
	}
	return out
}

// su handles su -c text and runuser -u user command (util-linux 2.38).
func (w *commands) su(s *wrapper, inv invocation) {
	words := slices.DeleteFunc(slices.Clone(inv.argv[1:]), func(f field) bool { return f.Static && f.Text == "-" })
	p, _ := s.permuted(words)
	inv.elevated = true
	if w.unread(p, inv) {
		return
	}
	w.runsText(inv, p, p.rest, w.terminalShell)
}

// later handles at and batch, which read commands and run them at another time.
func (w *commands) later(_ *wrapper, inv invocation) {
	w.unknown(unknown.RunsLater, inv.text)
	inv.elevated = true
	w.emitProgram(inv)
	w.cmd.spots = &[]cardea.Opaque{} // one report is enough
	if w.cmd.stdin.kind == literal {
		inv.access = nil
		w.childShell(path.Base(inv.argv[0].Text), w.cmd.stdin.text, nil, inv.behind(path.Base(inv.argv[0].Text), inv.argv))
	}
}
