package cardea_test

import (
	"context"
	"slices"
	"testing"

	"cardea.dev"
)

// told is a decider that receives the evaluation so far, and counts how often it is asked.
type told struct {
	opinions []cardea.Opinion
	asked    *int
	parts    *[]cardea.Effect
}

func (t told) Name() string { return "told" }

func (t told) Decide(context.Context, *cardea.Event) ([]cardea.Opinion, error) {
	panic("it is to be told what was said")
}

func (t told) DecideAfter(_ context.Context, _ *cardea.Event, parts []cardea.Effect, _ []cardea.Opinion) ([]cardea.Opinion, error) {
	*t.asked++
	*t.parts = slices.Clone(parts)
	parts[0] = cardea.Halt // must have no effect on the caller
	return t.opinions, nil
}

// effects is a decider that gives each part an effect.
type effects []cardea.Effect

func (effects) Name() string { return "effects" }

func (e effects) Decide(context.Context, *cardea.Event) (out []cardea.Opinion, _ error) {
	for i := range e {
		out = append(out, cardea.Opinion{Decider: "effects", Part: i, Effect: e[i]})
	}
	return out, nil
}

// A stage after the guards is asked only while its condition holds.
func TestStages(t *testing.T) {
	a, al, de, as, dn := cardea.Abstain, cardea.Allow, cardea.Defer, cardea.Ask, cardea.Deny
	for _, c := range []struct {
		parts       effects
		near, judge bool
	}{
		{effects{a}, true, true}, {effects{al, a}, true, true}, {effects{al}, false, false}, {effects{de}, false, true},
		{effects{a, de}, false, true}, {effects{a, as}, false, false}, {effects{a, dn}, false, false}, {effects{de, as}, false, false},
		{effects{de, al}, false, true}, {effects{cardea.Halt, a}, false, false},
	} {
		for stage, want := range map[cardea.Stage]bool{cardea.StageNear: c.near, cardea.StageJudge: c.judge} {
			asked, seen := 0, []cardea.Effect(nil)
			g := &cardea.Gate{Placements: []cardea.Placement{{Decider: told{asked: &asked, parts: &seen}, Stage: stage}, {Decider: c.parts}}}
			v := g.Decide(t.Context(), staged(cardea.PreToolUse, cardea.ModeDefault, len(c.parts)))
			if (asked == 1) != want {
				t.Errorf("%v at stage %d: asked %d times, want %t", c.parts, stage, asked, want)
			}
			if asked == 1 && !slices.Equal(seen, c.parts) {
				t.Errorf("%v: it was told %v", c.parts, seen)
			}
			if v.Effect == cardea.Halt && !slices.Contains(c.parts, cardea.Halt) {
				t.Errorf("%v: a decider changed what it was told", c.parts)
			}
		}
	}
}

func staged(kind cardea.Kind, mode cardea.Mode, parts int) *cardea.Event {
	return &cardea.Event{Kind: kind, Mode: mode, Call: &cardea.Call{Tool: "Bash", Known: true, Parts: make([]cardea.Part, parts)}}
}

// The judge is asked only where the harness would prompt.
func TestStagesWaitForThePrompt(t *testing.T) {
	for _, c := range []struct {
		name        string
		ev          *cardea.Event
		sends       bool
		near, judge bool
	}{
		{"before the prompt", staged(cardea.PreToolUse, cardea.ModeDefault, 1), true, false, false},
		{"at the prompt", staged(cardea.PermissionRequest, cardea.ModeDefault, 1), true, true, true},
		{"no such message", staged(cardea.PreToolUse, cardea.ModeDefault, 1), false, true, true},
		{"nobody is there to be prompted", staged(cardea.PreToolUse, cardea.ModeDefault, 1).With(func(e *cardea.Event) { e.Attendance = cardea.NobodyAttends }), true, true, true},
		{"never prompts", staged(cardea.PreToolUse, cardea.ModeBypass, 1), true, true, false},
		{"never prompts, no such message", staged(cardea.PreToolUse, cardea.ModeDontAsk, 1), false, true, false},
		{"prompts all the same", staged(cardea.PermissionRequest, cardea.ModeAuto, 1), true, true, true},
		{"runs anyway", &cardea.Event{Kind: cardea.PreToolUse, Mode: cardea.ModeAcceptEdits, Call: &cardea.Call{EditsFiles: true, Parts: make([]cardea.Part, 1)}}, false, true, false},
	} {
		for stage, want := range map[cardea.Stage]bool{cardea.StageNear: c.near, cardea.StageJudge: c.judge} {
			asked, seen := 0, []cardea.Effect(nil)
			d := told{asked: &asked, parts: &seen}
			g := &cardea.Gate{SendsPermissionRequest: c.sends, Placements: []cardea.Placement{{Decider: d, Stage: stage}}}
			g.Decide(t.Context(), c.ev)
			if (asked == 1) != want {
				t.Errorf("%s: stage %d asked %d times, want %t", c.name, stage, asked, want)
			}
			g.Disabled = true
			if g.Decide(t.Context(), c.ev); asked > 1 {
				t.Errorf("%s: asked in a session that is switched off", c.name)
			}
		}
	}
}

// An allow that lifts wins over defer about its part and over nothing else.
func TestLifts(t *testing.T) {
	lift := cardea.Opinion{Decider: "told", Effect: cardea.Allow, Part: 0, Lifts: true}
	for _, c := range []struct {
		parts effects
		more  []cardea.Opinion
		want  cardea.Effect
	}{
		{effects{cardea.Defer}, nil, cardea.Allow},
		{effects{cardea.Defer, cardea.Abstain}, nil, cardea.Abstain},
		{effects{cardea.Defer, cardea.Defer}, nil, cardea.Defer},
		{effects{cardea.Defer}, []cardea.Opinion{{Effect: cardea.Ask, Part: 0}}, cardea.Ask},
		{effects{cardea.Defer}, []cardea.Opinion{{Effect: cardea.Deny, Part: cardea.WholeCall}}, cardea.Deny},
		{effects{cardea.Defer}, []cardea.Opinion{{Effect: cardea.Defer, Part: cardea.WholeCall}}, cardea.Defer},
		{effects{cardea.Abstain, cardea.Allow}, nil, cardea.Allow},
	} {
		for _, opinions := range [][]cardea.Opinion{append([]cardea.Opinion{lift}, c.more...), append(slices.Clone(c.more), lift)} {
			asked, seen := 0, []cardea.Effect(nil)
			g := &cardea.Gate{Placements: []cardea.Placement{{Decider: c.parts}, {Decider: told{opinions: opinions, asked: &asked, parts: &seen}, Stage: cardea.StageJudge}}}
			if v := g.Decide(t.Context(), staged(cardea.PreToolUse, cardea.ModeDefault, len(c.parts))); v.Effect != c.want {
				t.Errorf("%v, %v: %s, want %s", c.parts, opinions, v.Effect, c.want)
			}
		}
	}
}

// A verdict says which stages the gate has, and which were asked. A default that decides
// leaves no stage to wait for.
func TestStagesOfVerdict(t *testing.T) {
	for _, c := range []struct {
		name     string
		guards   effects
		fallback cardea.Effect
		sends    bool
		atOnce   bool
		ran      bool
	}{
		{"silence", effects{cardea.Abstain}, cardea.Abstain, false, false, true},
		{"waits for the prompt", effects{cardea.Abstain}, cardea.Abstain, true, false, false},
		{"need not wait", effects{cardea.Abstain}, cardea.Abstain, true, true, true},
		{"a default decides", effects{cardea.Abstain}, cardea.Deny, true, false, true},
		{"denied", effects{cardea.Deny}, cardea.Abstain, false, false, false},
	} {
		asked, seen := 0, []cardea.Effect(nil)
		g := &cardea.Gate{SendsPermissionRequest: c.sends, NearAtOnce: c.atOnce, Default: cardea.Defaults{Attended: c.fallback},
			Placements: []cardea.Placement{{Decider: c.guards}, {Decider: told{asked: &asked, parts: &seen}, Stage: cardea.StageNear}}}
		v := g.Decide(t.Context(), staged(cardea.PreToolUse, cardea.ModeDefault, 1))
		if len(v.Stages) != 2 || v.Stages[0].Stage.String() != "guards" || !v.Stages[0].Ran || v.Stages[1].Stage.String() != "near" || v.Stages[1].Ran != c.ran || (asked == 1) != c.ran {
			t.Errorf("%s: %+v, asked %d times", c.name, v.Stages, asked)
		}
	}
}
