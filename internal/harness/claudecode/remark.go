package claudecode

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// remark is the output on an event that is about no call that is still to run:
// only the event's name and context.
type remark struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
}

// holds is what a deny does to an event (docs/harnesses.md#claude-code).
type holds uint8

const (
	// holdsNothing: the harness goes on whatever is said.
	holdsNothing holds = iota
	// holdsByDecision: {"decision": "block"} with the reason.
	holdsByDecision
	// holdsByExit: exit code 2 with the reason on standard error.
	holdsByExit
)

// events are what can be said on an event: whether a deny holds anything, and
// whether the model can be told a context. An event that is not here gets what
// holds for all: that the agent is stopped, and what the person is told.
func events(k cardea.Kind) (h holds, context bool) {
	switch k {
	case "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolBatch", "Stop", "SubagentStop":
		return holdsByDecision, true
	case "PreCompact", "ConfigChange", "TaskCreated":
		return holdsByDecision, false
	case "TaskCompleted", "TeammateIdle":
		return holdsByExit, false
	case "SessionStart", "PostToolUseFailure", "SubagentStart", "PostModelSwitch":
		return holdsNothing, true
	}
	return holdsNothing, false
}

// renderRemark writes a verdict on such an event. Where a deny holds nothing,
// the person is told, and the model, where it can be.
func renderRemark(out *answer, ev *cardea.Event, v cardea.Verdict) (exit *harness.Answer) {
	if ev.Kind == "" {
		return nil
	}
	how, hears := events(ev.Kind)
	context := v.Context
	switch {
	case v.Effect == cardea.Ask:
		out.tell(harness.ForPerson(v))
	case !v.Effect.Stricter(cardea.Ask):
	case v.Effect == cardea.Halt:
		stop(out, v)
		if how == holdsByDecision {
			out.Decision, out.Reason = "block", harness.ForModel(v)
		}
	case how == holdsByDecision:
		out.Decision, out.Reason = "block", harness.ForModel(v)
	case how == holdsByExit:
		a := harness.ByExit(v)
		return &a
	default:
		out.tell(harness.ForPerson(v))
		context = append([]string{harness.ForModel(v)}, context...)
	}
	if text := harness.Cap(strings.Join(context, "\n")); hears && text != "" {
		out.Hook = remark{string(ev.Kind), text}
	}
	return nil
}

// tell adds what the person is told.
func (a *answer) tell(text string) {
	a.SystemMessage = harness.Cap(strings.TrimPrefix(a.SystemMessage+"\n"+text, "\n"))
}
