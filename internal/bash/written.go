package bash

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// Written is a text that a line writes to a file. Expansions in it stand as they are
// written.
type Written struct {
	Path, Text string
	// Appended is set where what the file held before stays.
	Appended bool
}

// noteWritten notes the text that a simple command writes to files: a here-document
// that cat or tee copies, and what echo and printf print.
func (w *walker) noteWritten(call *syntax.CallExpr, redirs []*syntax.Redirect) {
	if len(call.Args) == 0 || len(w.out.Written) >= maxWritten {
		return
	}
	name := path.Base(call.Args[0].Lit())
	copies := knowledge.Has(form.CopiesInput, name) || name == "tee"
	if !copies && name != "echo" && name != "printf" {
		return
	}
	text := cmp.Or(w.cmd.stdin.literal(), w.cmd.stdin.may)
	var targets []*syntax.Word
	appended := false
	for _, r := range redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				text = w.hereBody(r)
			}
		case syntax.WordHdoc:
			text = unquoted(w.source(r.Word))
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			targets, appended = append(targets, r.Word), r.Op == syntax.AppOut || r.Op == syntax.AppAll
		}
	}
	switch {
	case name == "tee":
		targets = append(targets, call.Args[1:]...)
		appended = slices.ContainsFunc(call.Args[1:], func(a *syntax.Word) bool { return a.Lit() == "-a" || a.Lit() == "--append" })
	case !copies:
		text = w.printed(call.Args, name)
	}
	if strings.TrimSpace(text) == "" || len(targets) == 0 {
		return
	}
	for _, word := range targets {
		file, ok := w.target(word)
		if !ok || strings.HasPrefix(file.Text, "-") {
			continue
		}
		for _, a := range w.paths().Open(cardea.Write, file.Text, false) {
			w.addWritten(Written{a.Path, text, appended})
		}
	}
}

// hereBody is the body of a here-document as it is written.
func (w *walker) hereBody(r *syntax.Redirect) string {
	body := w.source(r.Hdoc)
	if last := strings.LastIndexByte(body, '\n') + 1; strings.TrimLeft(body[last:], "\t") == strings.Trim(w.source(r.Word), `'"\`) {
		body = body[:last]
	}
	return body
}

// aboutPrinted is about what a simple command prints.
func (w *walker) aboutPrinted(st *syntax.Stmt) string {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	switch name := path.Base(call.Args[0].Lit()); {
	case name == "echo" || name == "printf":
		return w.printed(call.Args, name)
	case len(st.Redirs) == 1 && st.Redirs[0].Hdoc != nil && knowledge.Has(form.CopiesInput, name):
		return w.hereBody(st.Redirs[0])
	}
	return ""
}

// maxWritten bounds how many files are noted that a line writes.
const maxWritten = 64

// addWritten notes a text; what is written to one file twice may stand in it together.
func (w *walker) addWritten(text Written) {
	if i := slices.IndexFunc(w.out.Written, func(x Written) bool { return x.Path == text.Path }); i >= 0 {
		w.out.Written[i].Text += "\n" + text.Text
		return
	}
	w.out.Written = append(w.out.Written, text)
}

// printed is about what echo or printf prints.
func (w *walker) printed(args []*syntax.Word, name string) string {
	var words []string
	for _, a := range args[1:] {
		if text := unquoted(w.source(a)); !strings.HasPrefix(text, "-") || len(words) > 0 {
			words = append(words, strings.ReplaceAll(text, `\n`, "\n"))
		}
	}
	if name == "printf" {
		return strings.Join(words, "\n")
	}
	return strings.Join(words, " ")
}

// unquoted is a word without the quotes around it.
func unquoted(s string) string {
	s = strings.TrimPrefix(s, "$'")
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		if s[0] == '"' {
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`).Replace(s[1 : len(s)-1])
		}
		return s[1 : len(s)-1]
	}
	return strings.TrimSuffix(s, "'")
}
