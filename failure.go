package cardea

import (
	"fmt"
	"slices"
	"strings"
)

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
	// BeyondLimit: text, a part or the tool input is beyond a limit of size, depth
	// or number, which no honest line is.
	BeyondLimit
	// OutOfTime: the limit was reached before all deciders had spoken.
	OutOfTime
	// Panicked: the program itself failed.
	Panicked
	// KeptForm: a file cannot be read, and its last good form is in force.
	KeptForm
	// Unwritten: the ledger, or another file of the state folder, could not be written.
	Unwritten
	// JudgeFailed: the judge gave no answer, or none of the form that it must have.
	JudgeFailed
	// NoAnswer: no person answered in time, or the queue could not be used.
	NoAnswer
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
	if i := slices.Index(onErrorNames[:], s); i >= 0 {
		return OnError(i), nil
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
	BeyondLimit:  {"the call is beyond a limit", Ask, Deny, Ask},
	OutOfTime:    {"out of time", Ask, Deny, Abstain},
	Panicked:     {"internal error", Abstain, Deny, Abstain},
	KeptForm:     {"a file is broken, and its last good form is in force", Abstain, Deny, Abstain},
	Unwritten:    {"a file could not be written", Abstain, Abstain, Abstain},
	JudgeFailed:  {"the judge fails", Abstain, Deny, Abstain},
	NoAnswer:     {"no answer in time from a person", Deny, Deny, Deny},
}

// String names the failure for people.
func (f Failure) String() string { return failures[f].name }

// Effect is what follows from the failure. Where nobody attends, a panic asks,
// since silence there would let the call run, and what is beyond a limit is
// denied, since nobody is there to look at it.
func (f Failure) Effect(o OnError, attended bool) Effect {
	row := failures[f]
	switch {
	case o == OnErrorDeny:
		return row.deny
	case o == OnErrorAllow:
		return row.open
	case f == Panicked && !attended:
		return Ask
	case f == BeyondLimit && !attended:
		return Deny
	}
	return row.inDefer
}

// Fallback are the settings that decide about a call that no gate has judged.
type Fallback struct {
	OnError OnError
	Default Defaults
}

// Defaults replace silence after all deciders.
type Defaults struct{ Attended, Unattended Effect }

// For is the default of a call.
func (d Defaults) For(attended bool) Effect {
	if attended {
		return d.Attended
	}
	return d.Unattended
}

// Failed is the verdict that the failure table and the setting default give. Nobody
// has seen the call, so a default that allows does not count.
func (b Fallback) Failed(f Failure, attended bool, text string) Verdict {
	v := Verdict{Effect: f.Effect(b.OnError, attended)}
	if v.Effect != Abstain {
		v.By, v.Reason, v.Message = "failure", text, text
	}
	if d := b.Default.For(attended); d.Stricter(v.Effect) {
		v.replaceSilence(d)
	}
	return v
}

// replaceSilence makes the verdict the one that the setting default gives.
func (v *Verdict) replaceSilence(d Effect) {
	v.Effect, v.By = d, "default"
	v.Reason = "no rule decides about all of this call, and the setting default says " + d.String()
	v.Message = v.Reason
}

// Trouble is something that went wrong while a call was judged: what a person
// is told of it, and what it costs.
type Trouble struct {
	// Failure is NoFailure for what changes no verdict.
	Failure    Failure
	Diagnostic Diagnostic
}

// Error is the diagnostic in one line.
func (t Trouble) Error() string { return t.Diagnostic.String() }

// Trouble is the failure with what a person is told about it. Source is "file",
// "file:line", or "" where it is about no file.
func (f Failure) Trouble(source string, code Code, hint, text string) Trouble {
	file, line := SplitSource(source)
	return Trouble{f, Diagnostic{File: file, Line: line, Code: code, Text: text, Hint: hint}}
}

// Warning is a trouble that changes no verdict.
func Warning(source string, code Code, hint, text string) Trouble {
	t := NoFailure.Trouble(source, code, hint, text)
	t.Diagnostic.Severity = LevelWarning
	return t
}

// Troubles is the error of a decider that met several troubles.
type Troubles []Trouble

// Error is one line for each trouble.
func (all Troubles) Error() string {
	lines := make([]string, len(all))
	for i, t := range all {
		lines[i] = t.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is the troubles as an error, nil where there are none.
func (all Troubles) Err() error {
	if len(all) == 0 {
		return nil
	}
	return all
}

// First are the first n troubles, and one that says how many more there are,
// and which command shows them. A broken file costs at least what one with a
// last good form costs, so a failure of the rest is not lost.
func (all Troubles) First(n int, command string) Troubles {
	if len(all) <= n {
		return all
	}
	rest := all[n:]
	more := Warning("", CodeMore, "run \""+command+"\" to see them", fmt.Sprintf("and %d more", len(rest)))
	for _, t := range rest {
		if t.Diagnostic.Severity < more.Diagnostic.Severity {
			more.Diagnostic.Severity = t.Diagnostic.Severity
		}
		if more.Failure == NoFailure || t.Failure == BrokenFile {
			more.Failure = t.Failure
		}
	}
	return append(all[:n:n], more)
}
