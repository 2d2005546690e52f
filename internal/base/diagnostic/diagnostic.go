// Package diagnostic holds the form in which all code reports mistakes in files and settings,
// and the codes on which programs act.
package diagnostic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Diagnostic describes a mistake in a file or a setting, or a note for its author. All code that
// reads files reports its findings in this form. Commands print it as a line or as JSON.
type Diagnostic struct {
	// Severity is LevelError in the zero value, so that an ungraded finding is not taken as
	// harmless.
	Severity Level `json:"severity"`
	// File is the file's name as the caller gave it, "" for a finding that is not about a file.
	File string `json:"file,omitempty"`
	// Line and Column start at 1; 0 means unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Code is the kind of the finding. Programs act on the code alone: Text and Hint are for
	// people, and may be reworded.
	Code Code `json:"code"`
	// Text describes the mistake, Hint the way to fix it.
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// Level grades a diagnostic.
type Level uint8

const (
	// LevelError marks a mistake that keeps a file, or an entry of it, from working as its author
	// meant.
	LevelError Level = iota
	// LevelWarning marks a likely mistake that leaves the file in force.
	LevelWarning
	// LevelNote marks information that is not about a mistake.
	LevelNote
)

var levelNames = [...]string{"error", "warning", "note"}

// String returns the level's word.
func (l Level) String() string { return levelNames[l] }

// MarshalText returns the level's word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText sets the level from its word. An unknown word is an error.
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(levelNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown level %q", text)
	}
	*l = Level(i)
	return nil
}

// String returns the diagnostic in one line without its severity: "file:line:col: text; hint".
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

// Place returns "file:line:col", without the parts that are unknown.
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

// SplitSource splits a source "file:line". For any other text, the file is the text and the line 0.
func SplitSource(source string) (file string, line int) {
	if i := strings.LastIndexByte(source, ':'); i > 0 {
		if n, err := strconv.Atoi(source[i+1:]); err == nil && n > 0 {
			return source[:i], n
		}
	}
	return source, 0
}

// Withheld returns the diagnostic of an untrusted file in a form that the model may read. Text,
// hint and even the place can hold words of the file. Only the file's name and the kind of the
// mistake are left.
func (d Diagnostic) Withheld() Diagnostic {
	return Diagnostic{Severity: d.Severity, File: d.File, Code: d.Code, Text: fmt.Sprintf("has mistakes (%s)", d.Code), Hint: `run "cardea rules lint" in the project to see them`}
}

// Error returns the diagnostic in one line, as [Diagnostic.String] does.
func (d Diagnostic) Error() string { return d.String() }

// HasError reports whether any of the diagnostics is an error.
func HasError(all []Diagnostic) bool {
	return slices.ContainsFunc(all, func(d Diagnostic) bool { return d.Severity == LevelError })
}

// Code is the kind of a diagnostic, one of the constants below.
type Code string

const (
	// CodeUnreadable: a file or folder cannot be opened or read.
	CodeUnreadable Code = "unreadable"
	// CodeSyntax: a file is not valid YAML, JSON or Rego.
	CodeSyntax Code = "syntax"
	// CodeTooLarge: a file, or the sum of its contents, exceeds a limit.
	CodeTooLarge Code = "too-large"
	// CodeWrongType: a value has another type than its key needs.
	CodeWrongType Code = "wrong-type"
	// CodeBadValue: a value has the right type but is not one of the allowed values.
	CodeBadValue Code = "bad-value"
	// CodeBadPattern: a regular expression or glob does not compile.
	CodeBadPattern Code = "bad-pattern"
	// CodeMissing: a required key is missing or empty.
	CodeMissing Code = "missing"
	// CodeUnknownKey: the key has an unknown name.
	CodeUnknownKey Code = "unknown-key"
	// CodeUnknownName: a value names a rule, event, function or file that does not exist.
	CodeUnknownName Code = "unknown-name"
	// CodeDuplicate: a key, id or name is given twice.
	CodeDuplicate Code = "duplicate"
	// CodeWrongScope: the key has no effect in a file of this scope.
	CodeWrongScope Code = "wrong-scope"
	// CodeIgnored: a file, entry or variable is not trusted or not read, so it is ignored.
	CodeIgnored Code = "ignored"
	// CodeUntrusted: the person did not accept a file of the project, or an entry of it, in this
	// form. It applies only in part or not at all.
	CodeUntrusted Code = "untrusted"
	// CodeNoEffect: the entry is readable but can never have an effect.
	CodeNoEffect Code = "no-effect"
	// CodeTooWide: an entry allows more than its author is likely to mean.
	CodeTooWide Code = "too-wide"
	// CodeUncertain: an entry may not do what its author expects.
	CodeUncertain Code = "uncertain"
	// CodeNotAsked: no hook is set up for the event that the entry needs.
	CodeNotAsked Code = "not-asked"
	// CodeNotExecutable: a script cannot be started.
	CodeNotExecutable Code = "not-executable"
	// CodeNoEngine: the program that evaluates policies is missing or failed.
	CodeNoEngine Code = "no-engine"
	// CodeNoJudge: the judge gave no answer.
	CodeNoJudge Code = "no-judge"
	// CodeLearned: repeated answers of a person are, or could become, a lesson.
	CodeLearned Code = "learned"
	// CodeOutOfTime: the time limit was reached.
	CodeOutOfTime Code = "out-of-time"
	// CodeInternal: the program itself failed.
	CodeInternal Code = "internal"
	// CodeUnwritten: the ledger, or another file of the state folder, could not
	// be written.
	CodeUnwritten Code = "unwritten"
	// CodeUnknownSender: a message came from a harness that the hook is not for, or that is
	// unknown.
	CodeUnknownSender Code = "unknown-sender"
	// CodeMore: further diagnostics are left out.
	CodeMore Code = "more"
	// CodeTestFailed: a test inside of a rule or route did not pass.
	CodeTestFailed Code = "test-failed"
	// CodeNotConverted: an entry could not be converted, by an import or for a harness other than
	// its own.
	CodeNotConverted Code = "not-converted"
	// CodeNotJSON: a file of another program has comments or trailing commas,
	// which JSON does not allow.
	CodeNotJSON Code = "not-json"
)
