package bash

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/grammar"
)

// This file follows data that flows into commands other than through pipes: through
// substitutions in their words, variables that hold the output of a command, and
// descriptors that the line has opened.

// pipe is a half-open range of parts whose output flows into a command.
type pipe struct {
	at       [2]int
	variable bool // a variable holds it
}

// readsVariable records that the current command expands a variable.
func (w *line) readsVariable(name string) {
	if from, ok := w.cur.Origins[name]; ok && !w.lookup(name).Known() {
		w.cmd.pending = append(w.cmd.pending, pipe{from, true})
	}
}

// givesToRead records a text that is the input of a <(…). It goes to the program whose
// word that is, or to any later program if a variable or a function gets the name.
func (w *line) givesToRead(text string) {
	if text += "\n"; w.cmd.reads != nil {
		*w.cmd.reads += text
	} else {
		w.fed += text
	}
}

// maxInputs is the number of input texts of parts that are recorded.
const maxInputs = 64

// noteInput records the input text of the last part.
func (w *line) noteInput() {
	if text := w.input(); strings.TrimSpace(text) != "" && len(w.out.Inputs) < maxInputs {
		w.out.Inputs = append(w.out.Inputs, StdinText{len(w.out.Parts) - 1, text})
	}
}

// inputFrom returns the parts that write the standard input of the current command, as
// far as known.
func (w *line) inputFrom() [2]int {
	if w.cmd.stdin.kind == inherited {
		return w.cur.Descriptors["0"] // exec < <(a)
	}
	return w.cmd.stdin.from
}

// followDescriptor records the connections of a redirection: those of other descriptors
// than the standard ones to the file, and that of the command to an open descriptor.
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
		w.cmd.pending = append(w.cmd.pending, pipe{at: at})
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

// descriptorName returns the number or the variable of a descriptor: 3, $fd, ${COPROC[0]}.
func descriptorName(text string) string {
	name, _, _ := strings.Cut(strings.Trim(text, `"${}-`), "[")
	return name
}

// printsInto records that the output of the parts after index from goes to the
// redirections of the part before them.
func (w *line) printsInto(from int) {
	if from > 0 && from < len(w.out.Parts) {
		w.out.Pipes = append(w.out.Pipes, Pipe{From: [2]int{from, len(w.out.Parts)}, To: [2]int{from - 1, from}})
	}
}

// pipesInto adds the pipes for the data that flows into a part through its words.
func (w *line) pipesInto(at int, p *cardea.Part) {
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
