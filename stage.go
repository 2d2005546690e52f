package cardea

import (
	"context"
	"slices"
	"time"
)

// Stage says when a decider is asked about a call.
type Stage uint8

// The stages, in the order in which they are asked (docs/design.md#stages).
const (
	// StageGuards is asked always.
	StageGuards Stage = iota
	// StageNear is asked while a part is at abstain and none at defer or above.
	StageNear
	// StageJudge is asked while a part is at abstain or defer and none at ask or above,
	// where the harness would show its prompt.
	StageJudge
	// StageHuman is a person who is asked in the queue. The gate itself asks nobody; see
	// [Verdict.ByPerson].
	StageHuman
)

var stageNames = [...]string{"guards", "near", "judge", "human"}

// String is the stage's word.
func (s Stage) String() string { return stageNames[s] }

// StageRun says whether a stage was asked, and how long that took.
type StageRun struct {
	Stage Stage
	Ran   bool
	Took  time.Duration
}

// Informed is a decider that is told what was said before it: the effects of the parts,
// and all opinions. It must change neither.
type Informed interface {
	DecideAfter(ctx context.Context, ev *Event, parts []Effect, said []Opinion) ([]Opinion, error)
}

// Prompts reports whether the harness shows its own prompt if nobody decides about the
// event's call: it says so by a permission request, else the mode does.
func (e *Event) Prompts() bool {
	if e.Kind == PermissionRequest || e.Kind == PreSkillShellCommand {
		return e.Kind == PermissionRequest
	}
	return e.modeAsks()
}

// later reports whether a stage behind the guards is asked on this event. Where the
// harness sends a permission request before it prompts, they wait for that, so that calls
// which would run anyway cost nothing. It sends none where nobody sits in front of it.
func (g *Gate) later(s Stage, ev *Event) bool {
	// A default that would decide on this event leaves nothing to wait for.
	return !g.Disabled && (g.NearAtOnce && s == StageNear || ev.Kind == PermissionRequest || g.Default.For(ev.Attended()) != Abstain ||
		!g.SendsPermissionRequest || !ev.Prompts() || ev.Attendance == NobodyAttends)
}

// askGuards asks the deciders that are asked always.
func (t *tally) askGuards(ctx context.Context) {
	begin := t.gate.now()
	t.ask(ctx, t.gate.Slots)
	t.askPossible(ctx)
	t.askOpened(ctx)
	t.ran(StageRun{StageGuards, true, t.gate.now().Sub(begin)})
}

// ran notes that a stage was asked, or was not.
func (t *tally) ran(r StageRun) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.verdict.Stages = append(t.verdict.Stages, r)
}

// askLater asks the stages behind the guards, each while its condition holds.
func (t *tally) askLater(ctx context.Context) {
	for _, stage := range [...]Stage{StageNear, StageJudge} {
		if !slices.ContainsFunc(t.gate.Slots, func(s Slot) bool { return s.Stage == stage }) {
			continue
		}
		run, begin := StageRun{Stage: stage}, t.gate.now()
		for _, s := range t.gate.Slots {
			if s.Stage != stage || ctx.Err() != nil || !t.gate.later(stage, t.event) || !t.reaches(stage) {
				continue
			}
			run.Ran = true
			t.hear(s.Decider, func() ([]Opinion, error) {
				if informed, is := s.Decider.(Informed); is {
					return informed.DecideAfter(ctx, t.event, slices.Clone(t.verdict.Parts), slices.Clone(t.verdict.Opinions))
				}
				return s.Decider.Decide(ctx, t.event)
			})
		}
		run.Took = t.gate.now().Sub(begin)
		t.ran(run)
	}
}

// reaches reports whether the condition of a stage holds.
func (t *tally) reaches(s Stage) bool {
	at := func(effects ...Effect) bool {
		return slices.ContainsFunc(t.verdict.Parts, func(e Effect) bool { return slices.Contains(effects, e) })
	}
	switch s {
	case StageNear:
		return at(Abstain) && !at(Defer) && !t.effect().Stricter(Abstain)
	case StageJudge:
		return at(Abstain, Defer) && !t.effect().Stricter(Defer) && t.event.Prompts()
	}
	return true
}
