package bash

import (
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/unknown"
)

// mayAbort notes that bash may give up here.
func (w *line) mayAbort() {
	if len(w.aborts) >= maxAborts {
		w.cur.Forget(unknown.ManyAborts)
		return
	}
	w.aborts = append(w.aborts, w.cur.Clone())
}

// goOn joins what is known with what was where bash may have given up.
func (w *line) goOn(begin int) {
	for _, s := range w.aborts[min(begin, len(w.aborts)):] {
		w.cur.Join(s)
	}
}

// recordExit records that the commands after this one may not run.
func (w *line) recordExit() {
	if len(w.exits) >= maxExits {
		w.unknown(unknown.TooManyJumps, w.src)
		return
	}
	w.exits = append(w.exits, w.cur.Clone())
}

// mergeExits joins the states in which a construct can have been left: by its end,
// not entered at all, or by a jump from its middle. The jumps stay recorded,
// since they may leave what is around the construct too.
func (w *line) mergeExits(before *shell.State, exits int) {
	if before != nil {
		w.cur.Join(before)
	}
	for _, s := range w.exits[min(exits, len(w.exits)):] {
		w.cur.Join(s)
	}
}

// maxAborts is how many places of a line are followed in which it may be given up.
const maxAborts = 500
