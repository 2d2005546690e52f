package cardea

import "time"

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
	// Took is how long deciding a call took.
	Took time.Duration
	// Troubles are the failures that a person must learn of.
	Troubles Troubles
}
