package bash

import (
	"cardea.dev"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// maxPotential is the number of possible commands of a line that are analyzed, with one
// more for each 512 bytes. maxPotentialDepth is the depth of possible commands that other
// possible commands run.
const (
	maxPotential      = 1024
	maxPotentialDepth = 2
)

// AddPotential adds to a part its potential effects, as far as its words name them.
func AddPotential(p *cardea.Part, may knowledge.Potential, env Env) {
	env.looked = new(int)
	addPotential(p, may, env)
}

// addPotential adds to a part its potential effects, as far as its words name them. env counts
// the commands of the line. For a remote part, files are on another machine and are not added.
func addPotential(p *cardea.Part, may knowledge.Potential, env Env) {
	if !p.Remote {
		p.MayTouch = may.Touch
	}
	deep := env.depth >= maxPotentialDepth
	env.depth++
	for _, line := range may.Run {
		if deep {
			break
		}
		if *env.looked += 1 + len(line)/512; *env.looked > maxPotential {
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

// within returns the environment in which the possible commands of a part run.
func (w *recorder) within() Env {
	env := w.env
	env.Cwd, env.likely = w.cur.Folder, w.files.entered
	if env.looked == nil {
		env.looked = &w.used.potential
	}
	return env
}
