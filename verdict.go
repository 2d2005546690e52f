package cardea

import (
	"slices"
	"time"
)

// Verdict is the outcome: the effect, the opinions that made it, and the trace
// of the others.
type Verdict struct {
	Effect Effect
	// By names who made the effect ("rules:git-force-push"), "" where nobody
	// spoke.
	By string
	// Reason is for people. Message is what the model is told; it differs
	// where a reason is withheld.
	Reason, Message string
	// Instead is the better way, for the model.
	Instead string
	// Context is told to the model whatever is decided, one entry an opinion.
	Context []string
	// Parts are the effects of the parts, in order.
	Parts []Effect
	// Opinions are all that were given, abstains with advice included, in
	// the order in which they were given.
	Opinions []Opinion
	// Replaced are those that an override took the place of.
	Replaced []Opinion
	// Rewrite is the whole new tool input, nil where nothing is rewritten.
	Rewrite map[string]any
	// Rewritten is the call with the new input, as it was judged, nil where nothing
	// is rewritten.
	Rewritten *Call
	// Stages are those that the gate has, in order.
	Stages []StageRun
	// Person is set where a person allowed exactly this call: then nothing is reserved for
	// them but what is itself a question.
	Person bool
	// Took is how long deciding a call took.
	Took time.Duration
	// Troubles are the failures that a person must learn of.
	Troubles Troubles
}

// ByPerson is the verdict when a person answered about exactly the call that was judged.
// It changes nothing of a deny or halt. said is the person's opinion; took is how long it
// was waited for.
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
