package bash

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/grammar"
)

// This file follows what flows into commands other than through pipes: through
// substitutions in their words, variables that hold the output of a command, and
// descriptors that the line has opened.

// feed is a range of parts, half open, whose output flows into a command.
type feed struct {
	at       [2]int
	variable bool // a variable holds it
}

// readsVariable notes that the current command expands a variable.
func (w *line) readsVariable(name string) {
	if from, ok := w.cur.Origins[name]; ok && !w.lookup(name).Known() {
		w.cmd.pending = append(w.cmd.pending, feed{from, true})
	}
}

// givesToRead notes a text that a <(…) gives to read: to the program whose word it is,
// or to any that is started later, where a variable or a function is given its name.
func (w *line) givesToRead(text string) {
	if text += "\n"; w.cmd.reads != nil {
		*w.cmd.reads += text
	} else {
		w.fed += text
	}
}

// maxInputs bounds how many texts are noted that parts read.
const maxInputs = 64

// noteInput notes what the part at the end is given to read.
func (w *line) noteInput() {
	if text := w.input(); strings.TrimSpace(text) != "" && len(w.out.Inputs) < maxInputs {
		w.out.Inputs = append(w.out.Inputs, Input{len(w.out.Parts) - 1, text})
	}
}

// inputFrom are the parts that write what the current command reads on its standard input, as
// far as that is followed.
func (w *line) inputFrom() [2]int {
	if w.cmd.stdin.kind == inherited {
		return w.cur.Descriptors["0"] // exec < <(a)
	}
	return w.cmd.stdin.from
}

// followDescriptor notes what a redirection connects: another descriptor than the
// standard ones with what it opens, and the command with what is open there.
func (w *line) followDescriptor(r *syntax.Redirect, stdin bool) {
	if r.Word == nil {
		return
	}
	opened := [2]int{len(w.out.Parts), len(w.out.Parts) + 1} // the part that the redirection belongs to
	if n := len(w.cmd.pending); n > 0 && grammar.IsProcSubst(r.Word) {
		opened = w.cmd.pending[n-1].at
	}
	if r.Op != syntax.DplIn && r.Op != syntax.DplOut {
		switch {
		case stdin && r.Op == syntax.RdrIn:
			w.cmd.stdin.from = opened
		case r.N != nil && len(r.N.Value) > 0:
			w.cur.Descriptors[strings.Trim(r.N.Value, "{}")] = opened
		}
		return
	}
	at, ok := w.cur.Descriptors[descriptorName(w.source(r.Word))]
	switch {
	case !ok:
	case r.Op == syntax.DplIn:
		w.cmd.pending = append(w.cmd.pending, feed{at: at})
		if stdin {
			w.cmd.stdin.from = at
		}
		if r.N != nil && r.N.Value != "0" {
			w.cur.Descriptors[r.N.Value] = at
		}
	default:
		w.out.Pipes = append(w.out.Pipes, Pipe{From: opened, To: at})
	}
}

// descriptorName is the number or the variable of a descriptor: 3, $fd, ${COPROC[0]}.
func descriptorName(text string) string {
	name, _, _ := strings.Cut(strings.Trim(text, `"${}-`), "[")
	return name
}

// printsInto notes that what parts from one on print goes where the redirections of
// the part in front of them lead.
func (w *line) printsInto(from int) {
	if from > 0 && from < len(w.out.Parts) {
		w.out.Pipes = append(w.out.Pipes, Pipe{From: [2]int{from, len(w.out.Parts)}, To: [2]int{from - 1, from}})
	}
}

// feedsInto adds the pipes of what flows into a part through its words.
func (w *line) feedsInto(at int, p *cardea.Part) {
	add := func(from [2]int, variable bool) {
		if from[0] < from[1] && from[0] != at {
			w.out.Pipes = append(w.out.Pipes, Pipe{From: from, To: [2]int{at, at + 1}, Variable: variable})
		}
	}
	for _, from := range w.cmd.pending {
		add(from.at, from.variable)
	}
	if len(w.cur.Descriptors) == 0 {
		return
	}
	if w.cmd.stdin.kind == inherited {
		add(w.cur.Descriptors["0"], false)
	}
	for _, word := range p.Argv {
		if word.Static && paths.IsDescriptor(word.Text) {
			add(w.cur.Descriptors[path.Base(word.Text)], false)
		}
	}
}
