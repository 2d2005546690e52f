package redact

import "fmt"

// Mark stands where a secret was, in stored text.
const Mark = "<REDACTED>"

// Finding is a secret found in a text.
type Finding struct {
	// Kind is the id of the rule that found it: "aws-access-token".
	Kind string
	// Start and End are byte offsets: the secret is s[Start:End].
	Start, End int
}

// Redactor finds secrets. It compiles what a text needs and keeps it, so one
// Redactor serves a whole process; it is safe for concurrent use.
type Redactor struct{}

// New makes a Redactor. It is cheap: nothing is compiled before a text needs it.
func New() *Redactor { return &Redactor{} }

// Text redacts a string for a store: each secret is replaced by [Mark].
func (r *Redactor) Text(s string) Text {
	return Text{replace(s, r.Find(s), func(Finding) string { return Mark })}
}

// Show redacts a string for people: each secret is replaced by its kind and
// its length in characters.
func (r *Redactor) Show(s string) string {
	return replace(s, r.Find(s), func(f Finding) string {
		return fmt.Sprintf("<REDACTED %s, %d characters>", f.Kind, len([]rune(s[f.Start:f.End])))
	})
}

// Find lists the secrets of a text in order; they do not overlap.
func (r *Redactor) Find(s string) []Finding { return nil }

// replace puts a mark in the place of each finding.
func replace(s string, found []Finding, mark func(Finding) string) string {
	if len(found) == 0 {
		return s
	}
	var out []byte
	at := 0
	for _, f := range found {
		out = append(out, s[at:f.Start]...)
		out = append(out, mark(f)...)
		at = f.End
	}
	return string(append(out, s[at:]...))
}
