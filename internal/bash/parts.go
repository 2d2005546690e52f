package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
)

// inPart walks a null construct, which becomes a part of its own.
func (w *statements) inPart(n syntax.Node, walk func()) {
	var spots []cardea.Opaque
	saved := w.cmd.spots
	w.cmd.spots = &spots
	walk()
	w.cmd.spots = saved
	w.emit(cardea.Part{Text: w.source(n), Opaque: spots, NoEffect: true, Start: w.offset(n)})
}

// redirectOnly handles redirections that belong to no simple command: they are
// a part of their own.
func (w *statements) redirectOnly(st *syntax.Stmt) []cardea.Access {
	var spots []cardea.Opaque
	saved := w.cmd.spots
	w.cmd.spots = &spots
	access := w.redirects(st.Redirs)
	w.cmd.spots = saved
	if len(access) == 0 && len(spots) == 0 {
		return nil
	}
	var text []string
	for _, r := range st.Redirs {
		if r.Hdoc == nil {
			text = append(text, w.source(r))
		}
	}
	w.emit(cardea.Part{Text: strings.Join(text, " "), Access: access, Opaque: spots, Start: w.offset(st.Redirs[0])})
	if st.Cmd == nil && !w.used.overLimit {
		w.notePrinted(nil)
	}
	return access
}
