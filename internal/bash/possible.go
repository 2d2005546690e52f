package bash

import (
	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// maxPossible is how many possible commands of a line are looked at, and
// maxPossibleDepth how deep: what a possible command may run in its turn.
const (
	maxPossible      = 1024
	maxPossibleDepth = 2
)

// possible adds to a part what it may do, as far as its words name it. Another
// machine's files are not this one's.
func (w *walker) possible(p *cardea.Part, may knowledge.Possible) {
	if !p.Remote && !w.around.remote {
		p.MayTouch = may.Touch
	}
	for _, line := range may.Run {
		if w.used.possible++; w.used.possible > maxPossible || w.env.depth >= maxPossibleDepth {
			may.TooMany = may.TooMany || w.env.depth < maxPossibleDepth
			break
		}
		env := w.env
		env.Cwd, env.depth = w.cur.cwd, w.env.depth+1
		found := Analyse(line, env)
		for _, q := range found.Parts {
			p.MayTouch = append(p.MayTouch, q.MayTouch...)
			p.MayRun = append(p.MayRun, q.MayRun...)
			q.MayTouch, q.MayRun = nil, nil
			q.Remote = q.Remote || p.Remote || w.around.remote
			p.MayRun = append(p.MayRun, q)
		}
	}
	if may.TooMany {
		p.Opaque = append(p.Opaque, cardea.Opaque{Code: cardea.OpaqueTooMany, Text: shorten(p.Text), Reason: "it names more files and commands than are looked at"})
	}
}
