package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// eval runs its words as a script in this shell.
func (w *commands) eval(inv invocation) {
	if text, ok := w.joinedText(withoutDashes(inv.argv[1:]), unknown.EvalText); ok {
		w.nested("eval", text, inv)
		return
	}
	w.runsPending()
	w.emitProgram(inv)
}

// runsPending marks the data that flows into the current command as code.
func (w *commands) runsPending() {
	at := len(w.out.Parts)
	for _, from := range w.cmd.pending {
		w.out.Pipes = append(w.out.Pipes, Pipe{From: from.at, To: [2]int{at, at + 1}, Code: true})
	}
}

// sourced runs a file's commands in this shell.
func (w *commands) sourced(inv invocation) {
	if bin, conda := w.activates(inv); bin != "" {
		if w.fronts = append(w.fronts, bin); conda == "" {
			w.noEffect(inv)
			return
		}
		p := cardea.Part{
			ShellFacts:   cardea.ShellFacts{Start: inv.start},
			CommandFacts: cardea.CommandFacts{Command: []string{inv.argv[0].Text}, Knowledge: cardea.Complete, Configs: []string{knowledge.OwnedBySystem + conda}},
		}
		p.Text, p.Argv = spelled(inv.argv)
		w.emit(p)
		return
	}
	inv.access = slices.Clone(inv.access)
	if len(inv.argv) > 1 {
		f := inv.argv[1]
		w.unknown(unknown.SourcedFile, f.Text)
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
func (w *commands) prefixBuiltin(inv invocation) {
	name := inv.argv[0].Text
	args := inv.argv[1:]
	if name == "exec" {
		p := execSpec.parse(args)
		if w.unread(p, inv) {
			return
		}
		inv.replaced(p.options)
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
		// Functions do not apply, builtins do.
		if args[0].Static {
			if b, ok := builtinOf(args[0].Text); ok {
				inv.mayFail = inv.mayFail || name == "command" // zsh looks for a program
				w.builtin(b, inv)
				return
			}
		}
		inv.program = true
	}
	w.unless(inv.mayFail, func() { w.up.start(inv) })
}

// shellReads records that the shell itself reads the input of the current command from
// now on: exec < <(a).
func (w *commands) shellReads() {
	w.fed += w.cmd.stdin.text + w.cmd.stdin.may
	if from := w.cmd.stdin.from; from[0] < from[1] {
		w.cur.Descriptors["0"] = from
	}
}

// prefixOptions reads the options of a prefix other than exec. It returns the other
// words, whether it only looks the command up, and whether bash may not run it.
func prefixOptions(name string, args []field) (rest []field, looks, fails bool) {
	fails = name == "noglob" || name == "nocorrect" // only zsh has them
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

// runByShell reports whether the shell runs the command itself.
func (w *commands) runByShell(first field) bool {
	if !first.Static {
		return false
	}
	_, is := builtinOf(first.Text)
	return is || !w.cur.IsPlainCommand(first.Text)
}
