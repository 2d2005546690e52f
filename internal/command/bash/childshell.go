package bash

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// shellProgram handles bash and other shells. The text after -c is a script, and so is a
// literal standard input.
func (w *commands) shellProgram(_ *wrapper, inv invocation) {
	name := path.Base(inv.argv[0].Text)
	words, command, stdin := w.shellOptions(inv.argv)
	if knowledge.Has(form.OwnSyntax, name) && (command || stdin || len(words) == 0) {
		w.unknown(unknown.OtherLanguage, inv.text)
	}
	switch {
	case command && len(words) == 0, len(words) > 0 && !words[0].Static:
		if len(words) > 0 {
			w.unknown(unknown.ShellText, words[0].Text)
			w.runsPending()
			if slices.ContainsFunc(words[0].May, w.runsItself) {
				w.emit(cardea.Part{
					ShellFacts: cardea.ShellFacts{Text: inv.text, Start: inv.start, Opaque: []cardea.Opaque{unknown.ScriptRunsItself.Spot(words[0].Text)}},
				})
			}
		}
		w.emitProgram(inv)
	case command:
		if stdin {
			w.unknown(unknown.ShellInput, inv.text)
			w.emitProgram(inv)
		}
		inv.wrappers = append(slices.Clone(inv.wrappers), name)
		w.childShell(name+" -c", words[0].Text, words[1:], inv)
	case len(words) > 0 && !stdin && paths.IsDescriptor(words[0].Text):
		w.unknown(unknown.ShellDescriptor, words[0].Text)
		w.emitProgram(inv)
	case len(words) > 0 && !stdin:
		w.emitProgram(inv) // a script file, a program like any other
	case w.cmd.stdin.kind == literal:
		inv.wrappers = append(slices.Clone(inv.wrappers), name)
		begin := len(w.out.Parts)
		w.childShell(name, w.cmd.stdin.text, append([]field{inv.argv[0]}, words...), inv)
		if strings.Contains(strings.TrimSpace(w.cmd.stdin.text), "\n") && (slices.ContainsFunc(w.out.Parts[begin:], readsScript) || strings.Contains(w.cmd.stdin.text, "select")) {
			w.unknown(unknown.SharedInput, inv.text)
		}
		if text := w.cmd.stdin.text; (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 {
			w.unknown(unknown.LastBackslash, inv.text)
		}
	default:
		w.unknown(unknown.ShellInput, inv.text)
		w.emitProgram(inv)
	}
}

// shellOptions reads the options of a shell. It returns the words after them, whether -c
// gives commands, and whether an option makes it read its standard input.
func (w *commands) shellOptions(argv []field) (rest []field, command, stdin bool) {
	_, words := spelled(argv)
	line, _ := knowledge.ReadShell(words)
	for _, o := range line.Options {
		switch name := strings.TrimLeft(o.Name, "-+"); {
		case name == "x" || name == "v" || name == "verbose":
			w.cur.Traced = true
		case strings.Contains("ceuflCETbhmsn", name), slices.Contains([]string{"norc", "noprofile", "login"}, name):
			// Start-up files belong to the user.
		case name == "o" && (o.Value == "" || o.Static && harmlessSetOption(o.Value)):
		default:
			w.unknown(unknown.ChildOption, o.Name+" "+o.Value)
		}
	}
	return argv[line.Rest:], line.Commands, line.Named
}

// readsScript reports whether a command may consume a part of the script that its shell
// reads from standard input.
func readsScript(p cardea.Part) bool {
	name := ""
	if len(p.Argv) > 0 {
		name = path.Base(p.Argv[0].Text)
	}
	if p.NoEffect {
		return name == "read" || name == "mapfile" || name == "readarray"
	}
	return !knowledge.Has(form.LeavesScript, name)
}

// foreignShell reads the commands of a shell of another language as bash would: where
// both languages agree, deny rules match what it starts.
func (w *commands) foreignShell(_ *wrapper, inv invocation) {
	_, words := spelled(inv.argv)
	line, known := knowledge.ReadShell(words)
	for i, f := range inv.argv[1:] {
		if known && (i+1 >= line.Rest || !line.Commands) {
			break
		}
		if !f.Static || strings.HasPrefix(strings.ToLower(f.Text), "-c") || strings.EqualFold(f.Text, "/c") || strings.HasPrefix(strings.ToLower(f.Text), "-e") {
			w.unknown(unknown.OtherLanguage, inv.text)
			break
		}
	}
	if (len(inv.argv) == 1 || known && line.ReadsInput()) && w.cmd.stdin.kind != inherited {
		w.unknown(unknown.ShellInput, inv.text)
	}
	w.emitProgram(inv)
	for _, o := range line.Options {
		if strings.EqualFold(o.Name, "-c") || strings.HasSuffix(o.Name, "command") {
			w.up.runLater(inv.argv[0].Text+" "+o.Name, o.Value)
		}
	}
}
