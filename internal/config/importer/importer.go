// Package importer translates the configuration of other tools to Cardea's. It writes no
// files: it returns texts, and a table with the outcome for every piece. Users switch the
// old tool off when an import claims to cover it, so the table must be exact.
//
// Entries that restrict are imported as wide as they were meant. Entries that allow are
// imported only in a form that cannot allow more than before; otherwise they are left out
// and reported.
package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"cardea.dev/internal/base/diagnostic"
)

// Imported is the result of an import.
type Imported struct {
	// Table holds the outcome for each entry of the other tool.
	Table []Row
	// Files holds new files, by path in the scope's folder.
	Files []File
	// Settings holds entries for the scope's cardea.yaml.
	Settings []Setting
	// Calls holds sample calls that are evaluated before and after the import.
	Calls []TrialCall
	// Problems holds why something cannot be read. Nothing is imported then.
	Problems []diagnostic.Diagnostic
}

// Outcome is the result for one entry.
type Outcome string

// The outcomes.
const (
	TakenOver Outcome = "taken over"
	Changed   Outcome = "changed"
	LeftOut   Outcome = "left out"
)

// Row is one line of the table.
type Row struct {
	What    string  `json:"what"`
	Outcome Outcome `json:"outcome"`
	// How describes the translation, the change, or the loss.
	How string `json:"how"`
	// Protected is set if the entry protected something, and the outcome loses that.
	Protected bool `json:"protected"`
	// File and Line are the place of the entry.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Lost reports whether a protection is lost.
func (r Row) Lost() bool { return r.Outcome == LeftOut && r.Protected }

// File is a file of the scope's folder.
type File struct {
	Path, Text string
	// From is the path of the original of a copy, "" for a new file.
	From string
	// Program is set for a script, which must be executable.
	Program bool
	// Sealed is set for a file that a later import of the same source may replace.
	Sealed bool
	// Protects is set if protection is lost unless the file is written.
	Protects bool
}

// Setting is an entry of cardea.yaml: a value, or items of a list, each as one line of
// YAML.
type Setting struct {
	Path  []string
	Value string
	Items []string
	// Protects is set if protection is lost when the setting already has another value.
	Protects bool
}

// TrialCall is a sample tool call that is evaluated before and after the import.
type TrialCall struct {
	Event, Tool, Input string
	// Said is the other tool's answer if known: deny, ask or allow.
	Said string
	// Group is the entry of the table that gives the answer, "" if it is not compared. About
	// is the command, path or address of the call.
	Group, About string
	// Why is the reason if Cardea intentionally does not deny the call, "" if not denying
	// would be a mistake.
	Why string
}

// table collects rows about a file.
type table struct {
	file string
	rows []Row
}

// located is a place in a file.
type located interface{ Line() int }

func (t *table) add(at located, outcome Outcome, protected bool, what, how string, args ...any) {
	row := Row{What: what, Outcome: outcome, How: fmt.Sprintf(how, args...), Protected: protected, File: t.file}
	if at != nil {
		row.Line = at.Line()
	}
	t.rows = append(t.rows, row)
}

func (t *table) taken(at located, what, how string, args ...any) {
	t.add(at, TakenOver, false, what, how, args...)
}

func (t *table) changed(at located, what, how string, args ...any) {
	t.add(at, Changed, false, what, how, args...)
}

// left adds an entry that protected nothing; lost adds one that did.
func (t *table) left(at located, what, how string, args ...any) {
	t.add(at, LeftOut, false, what, how, args...)
}

func (t *table) lost(at located, what, how string, args ...any) {
	t.add(at, LeftOut, true, what, how, args...)
}

// remarks adds the warnings of a document to the table, and returns the errors.
func (t *table) remarks(all []diagnostic.Diagnostic) (mistakes []diagnostic.Diagnostic) {
	for _, d := range all {
		if d.Severity == diagnostic.LevelError {
			mistakes = append(mistakes, d)
			continue
		}
		how := d.Text
		if d.Hint != "" {
			how += "; " + d.Hint
		}
		t.rows = append(t.rows, Row{What: "unknown key", Outcome: LeftOut, How: how, File: d.File, Line: d.Line})
	}
	return mistakes
}

// rulesFile returns a file with imported rules.
func rulesFile(path, head string, list []string) File {
	return File{Path: path, Text: head + "version: 1\nrules:\n" + strings.Join(list, ""), Sealed: true, Protects: true}
}

// mark begins every imported file, followed by the digest of the rest. source begins its
// second line.
const (
	mark   = "# Imported by cardea, digest "
	source = "# Source: "
)

// Seal returns text with the mark and its source in front.
func Seal(from, text string) string {
	text = source + oneLine(from) + "\n" + text
	return mark + digest(text) + "\n" + text
}

// sealed returns the source and the text of an imported file. ok is false for other files.
func sealed(file string) (from, text string, ok bool) {
	first, rest, _ := strings.Cut(file, "\n")
	second, text, _ := strings.Cut(rest, "\n")
	from, ok = strings.CutPrefix(second, source)
	return from, text, ok && strings.HasPrefix(first, mark)
}

// Source returns the source of an imported file, "" for other files.
func Source(file string) string {
	from, _, ok := sealed(file)
	if !ok {
		return ""
	}
	return from
}

// SameText reports whether two imported files have the same text, regardless of source.
func SameText(a, b string) bool {
	_, first, imported := sealed(a)
	_, second, too := sealed(b)
	return imported && too && first == second
}

// Untouched reports whether a file was imported from a source and not changed since.
// Another import from there may then replace it.
func Untouched(file, from string) bool {
	head, text, ok := strings.Cut(file, "\n")
	return ok && head == mark+digest(text) && Source(file) == oneLine(from)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// quoted returns text as a YAML scalar in single quotes. If it has characters that need
// escapes, it is in double quotes.
func quoted(s string) string {
	if strings.ContainsFunc(s, escapedInYAML) {
		return doubleQuoted(s)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// escapedInYAML reports whether a character needs an escape in a scalar. YAML allows no
// control characters or noncharacters (1.2, 5.1), and treats some others as line breaks.
func escapedInYAML(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// doubleQuoted returns text as a YAML scalar in double quotes.
func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case escapedInYAML(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
