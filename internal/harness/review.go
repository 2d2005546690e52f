package harness

import (
	"strings"

	"cardea.dev"
)

// review adds the id of the call to an event, and the decision of another reviewer about it. It
// reads documented fields, and otherwise the words of the message.
func review(ev *cardea.Event, p *Payload) {
	ev.CallID = firstText(p, "tool_use_id", "tool_call_id", "toolCallId", "toolUseID")
	extra := func(key string) string { v, _ := NewReading(p).Value("extra." + key); s, _ := v.(string); return s }
	out := cardea.Review{By: cardea.ByPerson, Effect: cardea.Ask, Reason: firstText(p, "reason", "message")}
	switch kind := strings.ToLower(strings.ReplaceAll(ev.Wire, "_", "")); {
	case kind == "permissiondenied" && ev.Harness == "grok-build":
		out.By, out.Effect = "", cardea.Deny // a rule or a person
	case kind == "permissiondenied":
		out.By, out.Effect = cardea.ByClassifier, cardea.Deny
	case kind == "notification" && p.Text("notification_type") == "permission_prompt":
	case kind == "permissionresult": // of Kimi Code
		out.Effect = answerIn(firstText(p, "decision", "result", "outcome", "response"))
	case kind == "preapprovalrequest": // of Hermes
		out.Reason = extra("description")
	case kind == "postapprovalresponse":
		out.Effect, out.Reason = answerIn(extra("choice")), extra("description")
	case kind == "pretooluseresult": // of goose, where all hooks have answered
		out.By, out.Effect = cardea.ByHook, answerIn(p.Text("decision"))
		if out.Effect == cardea.Allow {
			out.By = cardea.ByHarness
		} else if strings.Contains(p.Text("blocked_by"), "cardea") {
			out.By = cardea.ByCardea
		}
		out.Reason = strings.TrimPrefix(p.Text("cause")+": "+out.Reason, ": ")
	default:
		return
	}
	ev.Review = &out
}

// answerIn returns the effect of a harness's word for an answer, Abstain for another word.
func answerIn(word string) cardea.Effect {
	switch strings.ToLower(word) {
	case "allow", "allowed", "approve", "approved", "accept", "accepted", "yes", "once", "session", "always":
		return cardea.Allow
	case "deny", "denied", "reject", "rejected", "block", "blocked", "no", "cancel", "cancelled", "timeout":
		return cardea.Deny
	}
	return cardea.Abstain
}
