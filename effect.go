package cardea

import (
	"fmt"
	"slices"
)

// Effect is what a decider wants to happen, or what the gate decided.
type Effect uint8

// The effects. Their numeric order is the order of the join over deciders
// (see [Effect.JoinOpinion]); never compare them across parts by number.
const (
	// Abstain is no opinion. It is not allow: the harness's own permission
	// flow stays in force.
	Abstain Effect = iota
	// Allow lets the call run without a question.
	Allow
	// Defer means that no rule can decide: the harness's own flow, or a
	// person, does. On the wire it is silence.
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

// String is the effect's word in files, flags and messages.
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return fmt.Sprintf("effect(%d)", uint8(e))
}

// MarshalText writes the effect as its word.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the effect's word.
func (e *Effect) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEffect(string(text))
	return err
}

// ParseEffect reads an effect's word. An unknown word is an error that names
// the words there are.
func ParseEffect(s string) (Effect, error) {
	if i := slices.Index(effectNames[:], s); i >= 0 {
		return Effect(i), nil
	}
	return Abstain, fmt.Errorf("unknown effect %q: use halt, deny, ask, defer, allow or abstain", s)
}

// JoinOpinion joins what two deciders say about the same part:
// abstain < allow < defer < ask < deny < halt, the higher one wins.
// It is commutative, associative and idempotent; Abstain is neutral.
func (e Effect) JoinOpinion(o Effect) Effect { return max(e, o) }

// JoinPart joins two parts of a call:
// allow < abstain < defer < ask < deny < halt, the higher one wins. A call is
// allowed only if every part is. It is commutative, associative and
// idempotent; Allow is neutral.
func (e Effect) JoinPart(o Effect) Effect {
	if e.partRank() >= o.partRank() {
		return e
	}
	return o
}

// Stricter reports whether e holds a call back more than o does, in the order
// of the join over parts.
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

// JoinParts joins the parts of a call. A call without parts is at Abstain.
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
