package bash

import (
	"cardea.dev"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// maxPossible is how many possible commands of a line are looked at, where 512 bytes count
// as one more, and maxPossibleDepth how deep: what a possible command may run in its turn.
const (
	maxPossible      = 1024
	maxPossibleDepth = 2
)

// Possible adds to a part what it may do, as far as its words name it.
func Possible(p *cardea.Part, may knowledge.Possible, env Env) {
	env.looked = new(int)
	possible(p, may, env)
}

// possible adds to a part what it may do, as far as the words name it; env counts the
// commands of the line. Another machine's files are not this one's.
func possible(p *cardea.Part, may knowledge.Possible, env Env) {
	if !p.Remote {
		p.MayTouch = may.Touch
	}
	deep := env.depth >= maxPossibleDepth
	env.depth++
	for _, line := range may.Run {
		if deep {
			break
		}
		if *env.looked += 1 + len(line)/512; *env.looked > maxPossible {
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
		p.Opaque = append(p.Opaque, unknown.TooManyNamed.Spot(p.Text))
	}
}

// within is where the possible commands of a part run.
func (w *recorder) within() Env {
	env := w.env
	env.Cwd, env.likely = w.cur.Folder, w.files.entered
	if env.looked == nil {
		env.looked = &w.used.possible
	}
	return env
}
