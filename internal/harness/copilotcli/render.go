package copilotcli

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

type preToolUse struct {
	Decision string         `json:"permissionDecision"`
	Reason   string         `json:"permissionDecisionReason,omitempty"`
	Args     map[string]any `json:"modifiedArgs,omitempty"`
}

type permissionRequest struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message,omitempty"`
	Interrupt *bool  `json:"interrupt,omitempty"`
}

// Render writes a verdict. The form is flat for both payload formats: that is
// the documented one, and nested output in Claude Code's form is not confirmed
// for either. There is no way to tell the model something next to an allow,
// so context is told with a refusal or a question only. What a person must
// learn goes to stderr.
func (a Adapter) Render(ev *cardea.Event, v cardea.Verdict) harness.Answer {
	var ans harness.Answer
	if t := harness.TroubleText(v); t != "" {
		ans.Stderr = []byte(t + "\n")
	}
	out, ok := a.body(ev, v)
	if !ev.Kind.Answered() {
		body, person := remarkBody(ev, v)
		if out, ok = body, body != nil; person != "" {
			ans.Stderr = append(ans.Stderr, person+"\n"...)
		}
	}
	if !ok {
		return ans
	}
	stdout, err := harness.Encode(out)
	if err != nil {
		return unwritable(v, err)
	}
	ans.Stdout = stdout
	return ans
}

func (a Adapter) body(ev *cardea.Event, v cardea.Verdict) (any, bool) {
	if v.Rewrite != nil && !renamesBack(ev.Call) {
		// What was to be rewritten is asked about.
		v.Rewrite = nil
		v.Effect = v.Effect.JoinPart(cardea.Ask)
	}
	switch ev.Kind {
	case cardea.PreToolUse:
		return preToolUseBody(ev, v)
	case cardea.PermissionRequest:
		return a.permissionRequestBody(ev, v)
	}
	return nil, false
}

func preToolUseBody(ev *cardea.Event, v cardea.Verdict) (any, bool) {
	switch v.Effect {
	case cardea.Abstain, cardea.Defer:
		return nil, false
	case cardea.Allow:
		if harness.AsksPerson(ev.Call) {
			return nil, false
		}
		out := preToolUse{Decision: "allow", Args: wireArgs(ev, v)}
		if v.Reason != "" {
			out.Reason = harness.ForPerson(v)
		}
		return out, true
	case cardea.Ask:
		return preToolUse{Decision: "ask", Reason: withContext(harness.ForPerson(v), v), Args: wireArgs(ev, v)}, true
	}
	return preToolUse{Decision: "deny", Reason: withContext(harness.ForModel(v), v)}, true
}

func (a Adapter) permissionRequestBody(ev *cardea.Event, v cardea.Verdict) (any, bool) {
	switch v.Effect {
	case cardea.Abstain, cardea.Defer, cardea.Ask:
		return nil, false
	case cardea.Allow:
		// An input cannot be rewritten here.
		if v.Rewrite != nil || harness.PersonsOwn(ev, a.home) {
			return nil, false
		}
		return permissionRequest{Behavior: "allow"}, true
	}
	interrupt := v.Effect == cardea.Halt
	return permissionRequest{Behavior: "deny", Message: withContext(harness.ForModel(v), v), Interrupt: &interrupt}, true
}

func withContext(reason string, v cardea.Verdict) string {
	return harness.Cap(strings.Join(append([]string{reason}, v.Context...), "\n"))
}

// renamesBack reports whether Copilot's names for the input are known. A patch
// under the name Edit comes under a key that is not documented.
func renamesBack(c *cardea.Call) bool {
	return c != nil && (c.Tool != "apply_patch" || c.Name == c.Tool)
}

// wireArgs gives a rewritten input Copilot's names.
func wireArgs(ev *cardea.Event, v cardea.Verdict) map[string]any {
	if v.Rewrite == nil || ev.Call == nil {
		return nil
	}
	return harness.WireInput(Name, ev.Call.Tool, v.Rewrite)
}

// unwritable answers when the verdict does not go into JSON, which only a
// rewritten input can cause. On permissionRequest nothing is rewritten.
func unwritable(v cardea.Verdict, err error) harness.Answer {
	v.Effect, v.Instead = cardea.Deny, ""
	v.Message = "the rewritten input cannot be written as JSON: " + err.Error()
	return harness.ByExit(v)
}
