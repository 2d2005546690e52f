package cardea

import (
	"fmt"
	"slices"
)

// Effect is the outcome that a decider wants, or that the gate decided.
type Effect uint8

// The effects. Their numeric order is the order of the join over deciders
// (see [Effect.JoinOpinion]); never compare them across parts by number.
const (
	// Abstain is no opinion. It is not an allow: the harness's own permission flow applies.
	Abstain Effect = iota
	// Allow lets the call run without a question.
	Allow
	// Defer means that no rule can decide. The harness's own flow, or a person, decides. The hook
	// sends no answer.
	Defer
	// Ask lets a person decide.
	Ask
	// Deny blocks the call and tells the model why.
	Deny
	// Halt blocks the call and stops the agent.
	Halt
)

var effectNames = [...]string{"abstain", "allow", "defer", "ask", "deny", "halt"}

// Effects lists every effect in the order of the join over deciders.
func Effects() []Effect { return []Effect{Abstain, Allow, Defer, Ask, Deny, Halt} }

// String returns the effect's word in files, flags and messages.
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return fmt.Sprintf("effect(%d)", uint8(e))
}

// MarshalText returns the effect's word.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText sets the effect from its word. An unknown word is an error.
func (e *Effect) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEffect(string(text))
	return err
}

// ParseEffect returns the effect with the word s. For an unknown word, the error lists the known
// words.
func ParseEffect(s string) (Effect, error) {
	if i := slices.Index(effectNames[:], s); i >= 0 {
		return Effect(i), nil
	}
	return Abstain, fmt.Errorf("unknown effect %q: use halt, deny, ask, defer, allow or abstain", s)
}

// JoinOpinion joins the effects of two deciders on the same part. The higher one wins in the order
// abstain < allow < defer < ask < deny < halt. It is commutative, associative and idempotent;
// Abstain is neutral.
func (e Effect) JoinOpinion(o Effect) Effect { return max(e, o) }

// JoinPart joins the effects of two parts of a call. The higher one wins in the order allow <
// abstain < defer < ask < deny < halt, so a call is allowed only if every part is. It is
// commutative, associative and idempotent; Allow is neutral.
func (e Effect) JoinPart(o Effect) Effect {
	if e.partRank() >= o.partRank() {
		return e
	}
	return o
}

// Stricter reports whether e restricts a call more than o, in the order of the join over parts.
func (e Effect) Stricter(o Effect) bool { return e.partRank() > o.partRank() }

func (e Effect) partRank() uint8 {
	switch e {
	case Allow:
		return 0
	case Abstain:
		return 1
	}
	return uint8(e)
}

// JoinParts joins the effects of the parts of a call. It returns Abstain for a call without parts.
func JoinParts(parts []Effect) Effect {
	if len(parts) == 0 {
		return Abstain
	}
	out := Allow
	for _, p := range parts {
		out = out.JoinPart(p)
	}
	return out
}
