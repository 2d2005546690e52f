package cardea

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
)

// Failure is a way in which the gate could not do its work. It is not an opinion: the table in this
// file gives its effect.
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
	// BeyondLimit: text, a part or the tool input exceeds a limit of size, depth or number that
	// normal calls do not reach.
	BeyondLimit
	// OutOfTime: the time limit was reached before all deciders had answered.
	OutOfTime
	// Panicked: the program itself failed.
	Panicked
	// StoredForm: a file cannot be read, and its last good form applies.
	StoredForm
	// Unwritten: the ledger, or another file of the state folder, could not be written.
	Unwritten
	// JudgeFailed: the judge gave no answer, or an answer in a wrong form.
	JudgeFailed
	// NoAnswer: no person answered in time, or the queue could not be used.
	NoAnswer
)

// OnError is the setting on_error, which selects the effect of a failure.
type OnError uint8

// The values of on_error, strictest last, so that the larger one wins when
// scopes are merged.
const (
	OnErrorAllow OnError = iota
	OnErrorDefer
	OnErrorDeny
)

var onErrorNames = [...]string{"allow", "defer", "deny"}

// String returns the setting's word.
func (o OnError) String() string { return onErrorNames[o] }

// ParseOnError returns the value of the setting's word, or an error for an unknown word.
func ParseOnError(s string) (OnError, error) {
	if i := slices.Index(onErrorNames[:], s); i >= 0 {
		return OnError(i), nil
	}
	return OnErrorDefer, fmt.Errorf("unknown value %q: use defer, deny or allow", s)
}

// failures is the table of failures: the name, then the effect under on_error defer, deny and
// allow. Abstain means that the failure changes nothing.
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
	StoredForm:   {"a file is broken, and its last good form is in force", Abstain, Deny, Abstain},
	Unwritten:    {"a file could not be written", Abstain, Abstain, Abstain},
	JudgeFailed:  {"the judge fails", Abstain, Deny, Abstain},
	NoAnswer:     {"no answer in time from a person", Deny, Deny, Deny},
}

// String returns the name of the failure, for people.
func (f Failure) String() string { return failures[f].name }

// Effect returns the effect of the failure under o. In an unattended session, a panic asks, since
// silence would let the call run. A call beyond a limit is then denied, since no person can look at
// it.
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

// Fallback holds the settings that decide about a call that no gate has judged.
type Fallback struct {
	OnError OnError
	Default Defaults
}

// Defaults are the effects that replace silence after all deciders.
type Defaults struct{ Attended, Unattended Effect }

// For returns the default for an attended or unattended call.
func (d Defaults) For(attended bool) Effect {
	if attended {
		return d.Attended
	}
	return d.Unattended
}

// Failed returns the verdict that the failure table and the setting default give for a call that
// was not judged. A default of allow does not apply to it.
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

// replaceSilence gives the verdict the effect d and the reason of the setting default.
func (v *Verdict) replaceSilence(d Effect) {
	v.Effect, v.By = d, "default"
	v.Reason = "no rule decides about all of this call, and the setting default says " + d.String()
	v.Message = v.Reason
}

// Issue is a problem met while a call was judged: its message for a person and its failure.
type Issue struct {
	// Failure is NoFailure where the issue changes no verdict.
	Failure    Failure
	Diagnostic diagnostic.Diagnostic
}

// Error returns the diagnostic in one line.
func (t Issue) Error() string { return t.Diagnostic.String() }

// Issue returns an issue of this failure with a message for a person. source is "file",
// "file:line", or "" where the issue is not about a file.
func (f Failure) Issue(source string, code diagnostic.Code, hint, text string) Issue {
	file, line := diagnostic.SplitSource(source)
	return Issue{f, diagnostic.Diagnostic{File: file, Line: line, Code: code, Text: text, Hint: hint}}
}

// Warning returns an issue that changes no verdict. Its arguments are those of [Failure.Issue].
func Warning(source string, code diagnostic.Code, hint, text string) Issue {
	t := NoFailure.Issue(source, code, hint, text)
	t.Diagnostic.Severity = diagnostic.LevelWarning
	return t
}

// Issues is the error of a decider that met several issues.
type Issues []Issue

// Error returns one line for each issue.
func (all Issues) Error() string {
	lines := make([]string, len(all))
	for i, t := range all {
		lines[i] = t.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns the issues as an error, or nil for an empty list.
func (all Issues) Err() error {
	if len(all) == 0 {
		return nil
	}
	return all
}

// First returns the first n issues, and one more that states how many are left out and which
// command shows them. That one has the failure of the rest, so no effect is lost. A broken file
// wins, since its effect is at least that of a file with a last good form.
func (all Issues) First(n int, command string) Issues {
	if len(all) <= n {
		return all
	}
	rest := all[n:]
	more := Warning("", diagnostic.CodeMore, "run \""+command+"\" to see them", fmt.Sprintf("and %d more", len(rest)))
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
