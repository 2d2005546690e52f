package cardea

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Diagnostic says what is wrong with a file or a setting, or what its author
// should know about it. Everything that reads files reports its findings in
// this form; commands print it as a line or as JSON.
type Diagnostic struct {
	// Severity is LevelError in the zero value: what nobody graded is not
	// harmless.
	Severity Level `json:"severity"`
	// File is the file's name as the caller gave it, "" where there is none.
	File string `json:"file,omitempty"`
	// Line and Column count from 1; 0 is not known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Code says what kind of finding it is. Programs act on the code alone:
	// Text and Hint are for people, and may be reworded.
	Code Code `json:"code"`
	// Text says what is wrong, Hint what to do about it.
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// Level grades a diagnostic.
type Level uint8

const (
	// LevelError marks what makes a file, or an entry of it, not count as its
	// author meant it.
	LevelError Level = iota
	// LevelWarning marks a likely mistake that leaves the file in force.
	LevelWarning
	// LevelNote marks what is good to know, and is no mistake.
	LevelNote
)

var levelNames = [...]string{"error", "warning", "note"}

// String is the level's word.
func (l Level) String() string { return levelNames[l] }

// MarshalText writes the level's word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the level's word.
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(levelNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown level %q", text)
	}
	*l = Level(i)
	return nil
}

// String is the diagnostic in one line without its severity:
// "file:line:col: text; hint".
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.Place() + ": ")
	}
	b.WriteString(d.Text)
	if d.Hint != "" {
		b.WriteString("; " + d.Hint)
	}
	return b.String()
}

// Place is "file:line:col" as far as it is known.
func (d Diagnostic) Place() string {
	place := d.File
	if d.Line > 0 {
		place += ":" + strconv.Itoa(d.Line)
		if d.Column > 0 {
			place += ":" + strconv.Itoa(d.Column)
		}
	}
	return place
}

// SplitSource takes a source "file:line" apart; the line of another text is 0.
func SplitSource(source string) (file string, line int) {
	if i := strings.LastIndexByte(source, ':'); i > 0 {
		if n, err := strconv.Atoi(source[i+1:]); err == nil && n > 0 {
			return source[:i], n
		}
	}
	return source, 0
}

// Withheld is the diagnostic of a file that nobody trusts, as the model may read
// it. Text, hint and even the place can carry words of the file, so nothing is
// left but the file's name and the kind of the mistake.
func (d Diagnostic) Withheld() Diagnostic {
	return Diagnostic{Severity: d.Severity, File: d.File, Code: d.Code, Text: fmt.Sprintf("has mistakes (%s)", d.Code), Hint: `run "cardea rules lint" in the project to see them`}
}

// Error makes a Diagnostic an error.
func (d Diagnostic) Error() string { return d.String() }

// HasError reports whether any of the diagnostics is an error.
func HasError(all []Diagnostic) bool {
	return slices.ContainsFunc(all, func(d Diagnostic) bool { return d.Severity == LevelError })
}

// Code is the kind of a diagnostic. The constants below are all there are.
type Code string

const (
	// CodeUnreadable: a file or folder cannot be opened or read.
	CodeUnreadable Code = "unreadable"
	// CodeSyntax: a file is not valid YAML, JSON or Rego.
	CodeSyntax Code = "syntax"
	// CodeTooLarge: a file, or what it adds up to, is beyond a bound.
	CodeTooLarge Code = "too-large"
	// CodeWrongType: a value has another type than its key needs.
	CodeWrongType Code = "wrong-type"
	// CodeBadValue: a value has the right type but is none that is possible.
	CodeBadValue Code = "bad-value"
	// CodeBadPattern: a regular expression or glob does not compile.
	CodeBadPattern Code = "bad-pattern"
	// CodeMissing: a key that is needed is not there, or is empty.
	CodeMissing Code = "missing"
	// CodeUnknownKey: nothing reads a key of this name.
	CodeUnknownKey Code = "unknown-key"
	// CodeUnknownName: a value names a rule, event, function or file that
	// there is not.
	CodeUnknownName Code = "unknown-name"
	// CodeDuplicate: a key, id or name is given twice.
	CodeDuplicate Code = "duplicate"
	// CodeWrongScope: the key has no effect in a file of this scope.
	CodeWrongScope Code = "wrong-scope"
	// CodeIgnored: a file, entry or variable is not believed or read, so it does
	// not count.
	CodeIgnored Code = "ignored"
	// CodeUntrusted: a file of the project, or an entry of it, counts in part or
	// not at all, since the person did not accept it in this form.
	CodeUntrusted Code = "untrusted"
	// CodeNoEffect: the entry can be read but can never decide or do anything.
	CodeNoEffect Code = "no-effect"
	// CodeTooWide: an entry allows more than its author is likely to mean.
	CodeTooWide Code = "too-wide"
	// CodeUncertain: an entry may not do what its author expects.
	CodeUncertain Code = "uncertain"
	// CodeNotAsked: no hook brings the event that the entry waits for.
	CodeNotAsked Code = "not-asked"
	// CodeNotExecutable: a script cannot be started.
	CodeNotExecutable Code = "not-executable"
	// CodeNoEngine: the program that evaluates policies is missing or failed.
	CodeNoEngine Code = "no-engine"
	// CodeNoJudge: the judge gave no answer.
	CodeNoJudge Code = "no-judge"
	// CodeLearned: what a person answered several times is, or could be, a lesson.
	CodeLearned Code = "learned"
	// CodeOutOfTime: the time limit was reached.
	CodeOutOfTime Code = "out-of-time"
	// CodeInternal: the program itself failed.
	CodeInternal Code = "internal"
	// CodeUnwritten: the ledger, or another file of the state folder, could not
	// be written.
	CodeUnwritten Code = "unwritten"
	// CodeUnknownSender: a message came from another harness than the hook is
	// for, or from one that is not known.
	CodeUnknownSender Code = "unknown-sender"
	// CodeMore: there are further diagnostics, which are left out.
	CodeMore Code = "more"
	// CodeTestFailed: a test inside of a rule or route did not pass.
	CodeTestFailed Code = "test-failed"
	// CodeNotConverted: an entry could not be carried over, by an import or for
	// other harnesses than its own.
	CodeNotConverted Code = "not-converted"
	// CodeNotJSON: a file of another program has comments or trailing commas,
	// which JSON does not allow.
	CodeNotJSON Code = "not-json"
)
