package cli

import (
	"context"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/judge"
	"cardea.dev/internal/limit"
)

// checker is who can tell which providers are there.
type checker interface {
	Check(ctx context.Context) ([]judge.Availability, error)
}

// checkJudge asks the providers of the judge whether they are there, where it is on. None
// is asked a question.
func (c *checkup) checkJudge(p Process) {
	l, pl, err := gather(p, nil)
	if err != nil || !l.Settings.Judge.Enabled || p.Judge == nil {
		return
	}
	_, problems := l.JudgePolicy()
	c.Diagnostics = append(c.Diagnostics, problems...)
	if l.Settings.Judge.Backend != "chain" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit.JudgeCheck)
	defer cancel()
	asker, checks := p.Judge(pl.JudgeRequest(l.Settings.Judge.Config), l.Settings.FromEnv).(checker)
	if !checks {
		return
	}
	all, err := asker.Check(ctx)
	if err != nil {
		c.add(cardea.LevelError, cardea.CodeNoJudge, "", "the judge cannot be asked: "+err.Error())
		return
	}
	c.Judge = append(c.Judge, all...)
	if !slices.ContainsFunc(all, func(a judge.Availability) bool { return a.Why == "" && a.Paused == "" }) {
		c.add(cardea.LevelWarning, cardea.CodeNoJudge, "see docs/judge.md", "no provider of the judge can be asked, so the agent's own prompt decides")
	}
}

// showJudge shows the providers.
func (c checkup) showJudge(s *screen) {
	if len(c.Judge) == 0 {
		return
	}
	s.printf("\n%s\n", painted{bold, "the judge"})
	for _, a := range c.Judge {
		state := painted{green, "there"}
		switch {
		case a.Why != "":
			state = painted{yellow, "cannot be asked"}
		case a.Paused != "":
			state = painted{yellow, "there, and left alone"}
		}
		s.printf("  %s %s  %s\n", a.Provider, a.Model, state)
		s.field("  why", a.Why)
		s.field("  left alone", a.Paused)
		if !a.Priced {
			s.printf("    its price is not known\n")
		}
	}
}
