package cardea

import (
	"context"
	"slices"
	"time"
)

// Stage is the point at which a decider is asked about a call.
type Stage uint8

// The stages, in the order in which they are asked (docs/design.md#stages).
const (
	// StageGuards is always asked.
	StageGuards Stage = iota
	// StageNear is asked while a part is at abstain and no part at defer or above.
	StageNear
	// StageJudge is asked while a part is at abstain or defer and no part at ask or above. It is
	// only asked where the harness would show its prompt.
	StageJudge
	// StageHuman is the answer of a person in the queue. The gate itself does not ask a person; see
	// [Verdict.ByPerson].
	StageHuman
)

var stageNames = [...]string{"guards", "near", "judge", "human"}

// String returns the stage's word.
func (s Stage) String() string { return stageNames[s] }

// StageRun records whether a stage was asked, and how long that took.
type StageRun struct {
	Stage Stage
	Ran   bool
	Took  time.Duration
}

// Informed is a decider that receives the evaluation so far: the effects of the parts and all
// opinions. It must change neither.
type Informed interface {
	DecideAfter(ctx context.Context, ev *Event, parts []Effect, said []Opinion) ([]Opinion, error)
}

// Prompts reports whether the harness shows its own prompt if no decider decides about the event's
// call. A permission request announces it; on other events the mode decides.
func (e *Event) Prompts() bool {
	if e.Kind == PermissionRequest || e.Kind == PreSkillShellCommand {
		return e.Kind == PermissionRequest
	}
	return e.modeAsks()
}

// later reports whether a stage after the guards is asked on this event. Where the harness sends a
// permission request before it prompts, the stage waits for that request, so that calls which would
// run anyway cost nothing. In an unattended session, the harness sends no such request.
func (g *Gate) later(s Stage, ev *Event) bool {
	// A default that would decide on this event leaves nothing to wait for.
	return !g.Disabled && (g.NearAtOnce && s == StageNear || ev.Kind == PermissionRequest || g.Default.For(ev.Attended()) != Abstain ||
		!g.SendsPermissionRequest || !ev.Prompts() || ev.Attendance == NobodyAttends)
}

// askGuards asks the deciders of the stage guards, also about potential effects and opened files.
func (t *evaluation) askGuards(ctx context.Context) {
	begin := t.gate.now()
	t.ask(ctx, t.gate.Placements)
	t.askPotential(ctx)
	t.askOpened(ctx)
	t.ran(StageRun{StageGuards, true, t.gate.now().Sub(begin)})
}

// ran records that a stage was asked or skipped.
func (t *evaluation) ran(r StageRun) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.verdict.Stages = append(t.verdict.Stages, r)
}

// askLater asks the stages after the guards, each while its condition holds.
func (t *evaluation) askLater(ctx context.Context) {
	for _, stage := range [...]Stage{StageNear, StageJudge} {
		if !slices.ContainsFunc(t.gate.Placements, func(s Placement) bool { return s.Stage == stage }) {
			continue
		}
		run, begin := StageRun{Stage: stage}, t.gate.now()
		for _, s := range t.gate.Placements {
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
func (t *evaluation) reaches(s Stage) bool {
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
