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

// Possible adds to a part what it may do, as far as its words name it.
func Possible(p *cardea.Part, may knowledge.Possible, env Env) { possible(p, may, env, new(int)) }

// possible adds to a part what it may do, as far as the words name it; looked counts
// the commands of the line. Another machine's files are not this one's.
func possible(p *cardea.Part, may knowledge.Possible, env Env, looked *int) {
	if !p.Remote {
		p.MayTouch = may.Touch
	}
	deep := env.depth >= maxPossibleDepth
	env.depth++
	for _, line := range may.Run {
		if deep {
			break
		}
		if *looked++; *looked > maxPossible {
			may.TooMany = true
			break
		}
		for _, q := range Analyse(line, env).Parts {
			p.MayTouch = append(p.MayTouch, q.MayTouch...)
			p.MayRun = append(p.MayRun, q.MayRun...)
			q.MayTouch, q.MayRun = nil, nil
			q.Remote = q.Remote || p.Remote
			p.MayRun = append(p.MayRun, q)
		}
	}
	if may.TooMany {
		p.Opaque = append(p.Opaque, cardea.Opaque{Code: cardea.OpaqueTooMany, Text: shorten(p.Text), Reason: "it names more files and commands than are looked at"})
	}
}
