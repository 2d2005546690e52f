package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// This file follows texts of the line that commands print: into a pipe, a file or a variable.

// printed is the approximate output of a part.
type printed struct {
	part  int
	text  string
	names []string // patterns of the names that it may print
}

const (
	// maxWritten is the number of files written by a line that are recorded.
	maxWritten = 64
	// maxPrinted is the total size in bytes of the printed texts that are recorded.
	maxPrinted = 4 << 20
)

// notePrinted records the output of the last part, as far as the line shows it: the
// words of echo and printf, its input, or a file that the line writes. Any program may
// print what it reads.
func (w *line) notePrinted(words []field) {
	p := &w.out.Parts[len(w.out.Parts)-1]
	name, text := p.Program(), ""
	if name == "echo" || name == "printf" {
		text = w.about(name, words[1:])
	} else {
		text = w.input()
		for _, a := range p.Access {
			if i := w.writtenTo(a.Path); a.Kind == cardea.Read && i >= 0 {
				text += w.out.Written[i].Text
			}
		}
	}
	names := append(w.cmd.stdin.names[:len(w.cmd.stdin.names):len(w.cmd.stdin.names)], knowledge.Names(p, &w.env.System)...)
	if strings.TrimSpace(text) == "" && len(names) == 0 {
		return
	}
	if w.used.printed += len(text); w.used.printed > maxPrinted {
		w.unknown(unknown.TooLongOutput, w.src)
		return
	}
	w.prints = append(w.prints, printed{len(w.out.Parts) - 1, text, names})
	exact := name == "echo" || name == "printf" || name == "tee" || knowledge.Has(form.CopiesInput, name)
	for _, a := range p.Access {
		if a.Kind == cardea.Write {
			w.addWritten(Written{a.Path, text, !exact || w.cmd.appends || name == "tee" && knowledge.HasOption(p, "-a", "--append")})
		}
	}
}

// writtenText returns the text that the line writes to a file, or "".
func (w *line) writtenText(name string) string {
	text := ""
	for _, a := range w.paths().Open(cardea.Read, name, true) {
		if i := w.writtenTo(a.Path); i >= 0 {
			text += w.out.Written[i].Text + "\n"
		}
	}
	return text
}

// printedFrom returns the approximate output of the parts from an index on.
func (w *line) printedFrom(part int) string {
	i := len(w.prints)
	for i > 0 && w.prints[i-1].part >= part {
		i--
	}
	var texts []string
	for _, p := range w.prints[i:] {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "\n")
}

// namesFrom returns patterns of the names that the parts from an index on may print.
func (w *line) namesFrom(part int) []string {
	var out []string
	for i := len(w.prints) - 1; i >= 0 && w.prints[i].part >= part; i-- {
		out = append(out, w.prints[i].names...)
	}
	return out
}

// about returns the approximate output of echo or printf.
func (w *line) about(name string, words []field) string {
	var said, may []string
	for _, f := range words {
		switch {
		case f.Static:
			said = append(said, f.Text)
			continue
		case len(f.May) > 0:
			said, may = append(said, f.May[0]), append(may, f.May[1:]...)
		default:
			said = append(said, texts.Unquoted(f.Text))
		}
	}
	out := ""
	if name == "printf" {
		out, _ = texts.Printf(said)
	} else {
		for len(said) > 0 && len(said[0]) > 1 && strings.Trim(said[0], "neE") == "-" {
			said = said[1:]
		}
		out, _, _ = texts.Escaped(strings.Join(said, " "), true)
	}
	if len(may) > 0 {
		out += "\n" + strings.Join(may, "\n")
	}
	return out
}

// writtenTo returns the index of the text that goes into a file, or -1.
func (w *line) writtenTo(file string) int {
	if file == "" {
		return -1
	}
	return slices.IndexFunc(w.out.Written, func(x Written) bool { return x.Path == file })
}

// addWritten records a text. Texts for the same file are joined: the file may hold both.
func (w *line) addWritten(text Written) {
	if i := w.writtenTo(text.Path); i >= 0 {
		w.out.Written[i].Text += "\n" + text.Text
	} else if text.Path != "" && len(w.out.Written) < maxWritten {
		w.out.Written = append(w.out.Written, text)
	}
}
