package cardea

import (
	"slices"
	"time"
)

// Verdict is the result of the gate: the effect, the opinions that led to it, and the trace of the
// others.
type Verdict struct {
	Effect Effect
	// By names the author of the effect ("rules:git-force-push"), "" where no decider had an
	// opinion.
	By string
	// Reason is the text for people, Message the text for the model. They differ where a reason is
	// withheld.
	Reason, Message string
	// Instead is a better command or input, for the model.
	Instead string
	// Context is text for the model whatever the effect, one entry for each opinion.
	Context []string
	// Parts are the effects of the parts, in order.
	Parts []Effect
	// Opinions are all opinions in the order in which they were given, including abstains with
	// advice.
	Opinions []Opinion
	// Replaced are the opinions that an override replaced.
	Replaced []Opinion
	// Rewrite is the whole new tool input, nil where nothing is rewritten.
	Rewrite map[string]any
	// Rewritten is the call with the new input, as it was judged, nil without a rewrite.
	Rewritten *Call
	// Stages are the stages of the gate, in order.
	Stages []StageRun
	// Person is set where a person allowed exactly this call. Then only tools that are themselves a
	// question stay reserved for the person.
	Person bool
	// Took is how long deciding a call took.
	Took time.Duration
	// Issues are the failures that a person must learn of.
	Issues Issues
}

// ByPerson returns the verdict after a person answered about exactly the call that was judged. A
// deny or halt stays as it is. said is the person's opinion; took is the time until the answer.
func (v Verdict) ByPerson(said Opinion, took time.Duration) Verdict {
	if v.Effect.Stricter(Ask) {
		return v
	}
	said.Part = WholeCall
	v.Opinions = append(slices.Clip(v.Opinions), said)
	v.Stages = append(slices.Clip(v.Stages), StageRun{StageHuman, true, took})
	v.Effect, v.By, v.Reason, v.Message, v.Instead = said.Effect, said.By(), said.Reason, said.Reason, ""
	v.Person = said.Effect == Allow
	if said.Effect != Allow {
		v.Effect = max(said.Effect, Deny)
		v.Rewrite, v.Rewritten = nil, nil
	}
	return v
}
