package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/harness"
)

// kinds are the events for which the answer is read: all that any vendor documents, an undocumented
// one, and one without a name.
var kinds = []cardea.Kind{cardea.PreToolUse, cardea.PermissionRequest, cardea.PreSkillShellCommand, "", "SessionStart", "Setup", "UserPromptSubmit", "UserPromptExpansion",
	"PermissionDenied", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "MessageDisplay", "SubagentStart",
	"SubagentStop", "TaskCreated", "TaskCompleted", "Stop", "StopFailure", "TeammateIdle", "InstructionsLoaded", "ConfigChange", "CwdChanged",
	"FileChanged", "DirectoryAdded", "WorktreeCreate", "WorktreeRemove", "PreCompact", "PostCompact", "PreModelSwitch",
	"PostModelSwitch", "Elicitation", "ElicitationResult", "SessionEnd", "ErrorOccurred", "EventOfTomorrow"}

var modes = []cardea.Mode{cardea.ModeUnknown, cardea.ModeDefault, cardea.ModePlan, cardea.ModeAcceptEdits,
	cardea.ModeAuto, cardea.ModeDontAsk, cardea.ModeBypass, "a mode of tomorrow"}

// effects checks every event, mode, setting and opinion. The answer that the gate reports (and the
// ledger records) must be the one that the harness reads, and no answer may let more through than
// the verdict.
func (s Suite) effects(t *testing.T) {
	n := 0
	for _, call := range s.calls(t) {
		for _, kind := range kinds {
			if kind == cardea.PermissionRequest && len(s.PermissionRequest) == 0 || kind == cardea.PreSkillShellCommand && len(s.PreSkillShellCommand) == 0 {
				continue // the harness has no such event
			}
			if call.Attendance != cardea.AttendanceUnsaid && !call.NativeAsk && !kind.Answered() {
				continue // an event that has happened causes no question
			}
			for i, mode := range modes {
				if i > 0 && !kind.Answered() && mode != cardea.ModeBypass {
					continue // where nothing is permitted, only attendance matters
				}
				ev := *call
				ev.Kind, ev.Mode = kind, mode
				for _, g := range gates() {
					n++
					s.effect(t, g, &ev)
				}
			}
		}
	}
	t.Logf("%d verdicts", n)
}

// calls returns events about calls that are treated differently: a plain one, and those that are
// reserved for a person.
func (s Suite) calls(t *testing.T) []*cardea.Event {
	out := []*cardea.Event{{Harness: s.Adapter.Name()}}
	raws := s.messages()
	if s.AskPerson != "" {
		raws = append(raws, s.AskPerson)
	}
	for _, raw := range raws {
		ev := s.parse(t, raw)
		part := cardea.Part{ShellFacts: cardea.ShellFacts{Text: "x", Coverage: cardea.Complete}}
		write := part
		write.Access = []cardea.Access{{Kind: cardea.Write, Path: "/p/.npmrc"}}
		for _, p := range []cardea.Part{part, write} {
			out = append(out, ev.With(func(e *cardea.Event) { e.Call = e.Call.WithParts([]cardea.Part{p}, nil, nil) }))
		}
	}
	out = append(out, out[len(out)-2].With(func(e *cardea.Event) { e.NativeAsk = true }))
	for _, ev := range out[1:] { // attendance by the harness's or the user's word
		for _, a := range []cardea.Attendance{cardea.NobodyAttends, cardea.PersonAttends} {
			out = append(out, ev.With(func(e *cardea.Event) { e.Attendance = a }))
		}
	}
	return out
}

// says is a decider with fixed opinions.
type says struct {
	opinions []cardea.Opinion
	err      error
}

// Name returns "says".
func (says) Name() string { return "says" }

// Decide returns the fixed opinions.
func (s says) Decide(context.Context, *cardea.Event) ([]cardea.Opinion, error) {
	return s.opinions, s.err
}

// gates returns gates with every setting that changes an effect, and every opinion.
func gates() []*cardea.Gate {
	rewrite := cardea.Advice{Rewrite: map[string]any{"command": markRewrite}}
	deciders := []says{{}, {err: errors.New("failed")}, {err: cardea.Issues{cardea.BrokenPolicy.Issue("", diagnostic.CodeSyntax, "", "broken")}}}
	for _, e := range cardea.Effects() {
		for _, advice := range []cardea.Advice{{}, {Context: markContext, Instead: markInstead}, rewrite} {
			part := 0
			if e != cardea.Allow {
				part = cardea.WholeCall
			}
			deciders = append(deciders, says{opinions: []cardea.Opinion{{Decider: "says", Effect: e, Part: part, Reason: markReason, Advice: advice, Person: advice.Context != ""}}})
		}
	}
	var out []*cardea.Gate
	for _, d := range deciders {
		for _, byDefault := range []cardea.Effect{cardea.Abstain, cardea.Allow, cardea.Ask, cardea.Deny} {
			for _, on := range []cardea.OnError{cardea.OnErrorDefer, cardea.OnErrorDeny, cardea.OnErrorAllow} {
				out = append(out, &cardea.Gate{Placements: []cardea.Placement{{Decider: d, Events: true}}, OnError: on,
					Default: cardea.Defaults{Attended: byDefault, Unattended: byDefault}})
			}
		}
	}
	return out
}

func (s Suite) effect(t *testing.T, g *cardea.Gate, ev *cardea.Event) {
	t.Helper()
	v := g.Decide(context.Background(), ev)
	a := cardea.Express(v, s.Adapter.Capabilities(), ev)
	out := s.Adapter.Render(ev, a)
	if err := agree(ev, v, a, s.Outcome(ev, out)); err != nil {
		t.Fatalf("%s, mode %q, default %s, on_error %s, %+v: %v\n%s%s", ev.Kind, ev.Mode, g.Default.Attended, g.OnError, g.Placements[0].Decider, err, out.Stdout, out.Stderr)
	}
}

// agree compares an answer with the harness's reaction.
func agree(ev *cardea.Event, v cardea.Verdict, a cardea.Answer, got Outcome) error {
	switch {
	case !Agrees(ev.Kind, a.Effect, got):
		return fmt.Errorf("the answer %s is read as: %s", a.Effect, got)
	case v.Rewrite != nil && got >= Prompts: // what cannot be rewritten is asked about, or refused
	case slices.Contains(a.Limits, cardea.OwnPrompt) && got == OwnFlow: // its own prompt follows
	case !permitted(ev.Kind, v, got):
		return fmt.Errorf("the verdict %s is read as: %s", v.Effect, got)
	case a.Effect != v.Effect && len(a.Limits) == 0:
		return fmt.Errorf("the answer %s differs from the verdict %s, and does not say why", a.Effect, v.Effect)
	case a.Decided != v.Effect:
		return fmt.Errorf("decided is %s, not %s", a.Decided, v.Effect)
	}
	return nil
}

// CheckMessage checks the same for a message that arrived at a hook: for every effect, its sender
// must read the answer as the gate means it.
func CheckMessage(m *harness.Message, ev *cardea.Event, read func(*cardea.Event, harness.Output) Outcome) error {
	for _, e := range cardea.Effects() {
		for extras := range 32 {
			v := verdict(e, extras)
			a := cardea.Express(v, m.Capabilities(), ev)
			if err := agree(ev, v, a, read(ev, m.Write(ev, a))); err != nil {
				return fmt.Errorf("%s of %s, mode %q, extras %05b: %w", ev.Kind, m.Sender, ev.Mode, extras, err)
			}
		}
	}
	return nil
}
