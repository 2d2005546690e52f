package cardea

import "fmt"

// Failure is a way in which the gate could not do its work. A failure is not
// an opinion: this file alone says what follows from it.
type Failure uint8

// The failures. The table of docs/design.md#failures is made from them.
const (
	// NoFailure is the zero value; it decides nothing.
	NoFailure Failure = iota
	// NoObject: stdin holds no JSON object, under an explicit --harness.
	NoObject
	// UnreadInput: a duplicate or case-variant key, a wrong type, a replaced
	// character or over-nesting in the tool input.
	UnreadInput
	// BrokenFile: a file of settings, rules, roles or lessons cannot be read.
	BrokenFile
	// BrokenPolicy: a policy does not compile or evaluate.
	BrokenPolicy
	// Unparsed: text cannot be parsed, or a part is opaque.
	Unparsed
	// OutOfTime: the limit was reached before all deciders had spoken.
	OutOfTime
	// Panicked: the program itself failed.
	Panicked
	// KeptForm: a file cannot be read, and its last good form is in force.
	KeptForm
	// Unwritten: the ledger, or another file of the state folder, could not be written.
	Unwritten
)

// OnError is the setting on_error: what a failure costs.
type OnError uint8

// The values of on_error, strictest last, so that the larger one wins when
// scopes are merged.
const (
	OnErrorAllow OnError = iota
	OnErrorDefer
	OnErrorDeny
)

var onErrorNames = [...]string{"allow", "defer", "deny"}

// String is the setting's word.
func (o OnError) String() string { return onErrorNames[o] }

// ParseOnError reads the setting's word.
func ParseOnError(s string) (OnError, error) {
	for i, n := range onErrorNames {
		if n == s {
			return OnError(i), nil
		}
	}
	return OnErrorDefer, fmt.Errorf("unknown value %q: use defer, deny or allow", s)
}

// failures is the table. Columns: name, then the effect under on_error defer,
// deny and allow. Abstain means that the failure changes nothing.
var failures = [...]struct {
	name                string
	inDefer, deny, open Effect
}{
	NoFailure:    {"none", Abstain, Abstain, Abstain},
	NoObject:     {"stdin is no JSON object", Deny, Deny, Abstain},
	UnreadInput:  {"the tool input cannot be read with certainty", Defer, Deny, Defer},
	BrokenFile:   {"a file is broken", Ask, Deny, Abstain},
	BrokenPolicy: {"a policy is broken", Ask, Deny, Abstain},
	Unparsed:     {"the command cannot be seen through", Defer, Deny, Defer},
	OutOfTime:    {"out of time", Ask, Deny, Abstain},
	Panicked:     {"internal error", Abstain, Deny, Abstain},
	KeptForm:     {"a file is broken, and its last good form is in force", Abstain, Deny, Abstain},
	Unwritten:    {"a file could not be written", Abstain, Abstain, Abstain},
}

// String names the failure for people.
func (f Failure) String() string { return failures[f].name }

// Effect is what follows from the failure. A panic asks where nobody is
// attending, since silence there would let the call run.
func (f Failure) Effect(o OnError, attended bool) Effect {
	row := failures[f]
	switch o {
	case OnErrorDeny:
		return row.deny
	case OnErrorAllow:
		return row.open
	}
	if f == Panicked && !attended {
		return Ask
	}
	return row.inDefer
}

// Failed is the verdict that the failure table alone gives.
func Failed(f Failure, on OnError, attended bool, text string) Verdict {
	v := Verdict{Effect: f.Effect(on, attended)}
	if v.Effect != Abstain {
		v.By, v.Reason, v.Message = "failure", text, text
	}
	return v
}

// Trouble is a failure with what a person needs to mend it.
type Trouble struct {
	Failure Failure
	// Text says what is wrong and what to do, with file, line and column
	// where there is one.
	Text string
	// Source is the file, or "".
	Source string
}

// Error makes a Trouble an error, so that a decider can return one.
func (t *Trouble) Error() string { return t.Text }
