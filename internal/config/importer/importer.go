// Package importer translates the configuration of other tools into Cardea's.
// It writes no file: it returns texts, and a table that says for every piece what
// became of it, since an import that says "covered" and covers nothing makes a
// person switch the old tool off.
//
// What tightens is taken over as widely as it was meant. What allows is taken
// over only in a form that cannot allow more than before, or is left out and
// reported.
package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"cardea.dev"
)

// Imported is what an import gives.
type Imported struct {
	// Table says what became of each thing that the other tool was told.
	Table []Row
	// Files are new files, by path in the scope's folder.
	Files []File
	// Settings are entries for the scope's cardea.yaml.
	Settings []Setting
	// Calls show what changes: they are judged before and after.
	Calls []Call
	// Problems are why something could not be read. Nothing is taken over then.
	Problems []cardea.Diagnostic
}

// Outcome is what became of something.
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
	// How says what it is now, how it changed, or what is lost.
	How string `json:"how"`
	// Protected is set where it protected something, and that is lost.
	Protected bool `json:"protected"`
	// File and Line are where it stands.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Lost reports whether something that protected is lost.
func (r Row) Lost() bool { return r.Outcome == LeftOut && r.Protected }

// File is a file of the scope's folder.
type File struct {
	Path, Text string
	// From is the file that it is a copy of, "" for a new one.
	From string
	// Program is set for a script, which must be executable.
	Program bool
	// Sealed is set for a file that another import of the same source may replace.
	Sealed bool
	// Protects is set where something is lost if it cannot be written.
	Protects bool
}

// Setting is an entry of cardea.yaml: a value, or items of a list, as YAML of one
// line.
type Setting struct {
	Path  []string
	Value string
	Items []string
	// Protects is set where something is lost if another value is there already.
	Protects bool
}

// Call is a tool call that is judged before and after.
type Call struct {
	Event, Tool, Input string
	// Said is what the other tool says to it, as far as it is known: deny, ask or allow.
	Said string
	// Group is the thing in the table that says it, "" for what is not compared. About is
	// what the call is about: a command, a path or an address.
	Group, About string
	// Why says why Cardea does not deny it on purpose, "" where that would be a mistake.
	Why string
}

// table collects rows about a file.
type table struct {
	file string
	rows []Row
}

// place is where something stands in a file.
type place interface{ Line() int }

func (t *table) add(at place, outcome Outcome, protected bool, what, how string, args ...any) {
	row := Row{What: what, Outcome: outcome, How: fmt.Sprintf(how, args...), Protected: protected, File: t.file}
	if at != nil {
		row.Line = at.Line()
	}
	t.rows = append(t.rows, row)
}

func (t *table) taken(at place, what, how string, args ...any) {
	t.add(at, TakenOver, false, what, how, args...)
}

func (t *table) changed(at place, what, how string, args ...any) {
	t.add(at, Changed, false, what, how, args...)
}

// left is for what protected nothing, lost for what did.
func (t *table) left(at place, what, how string, args ...any) {
	t.add(at, LeftOut, false, what, how, args...)
}

func (t *table) lost(at place, what, how string, args ...any) {
	t.add(at, LeftOut, true, what, how, args...)
}

// remarks takes the warnings of a document into the table, and gives the mistakes.
func (t *table) remarks(all []cardea.Diagnostic) (mistakes []cardea.Diagnostic) {
	for _, d := range all {
		if d.Severity == cardea.LevelError {
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

// rulesFile is a file of rules that an import writes.
func rulesFile(path, head string, list []string) File {
	return File{Path: path, Text: head + "version: 1\nrules:\n" + strings.Join(list, ""), Sealed: true, Protects: true}
}

// mark begins every file that an import wrote, with the digest of the rest, and source
// its second line.
const (
	mark   = "# Imported by cardea, digest "
	source = "# Source: "
)

// Seal puts the mark before the text of a file, with what it was imported from.
func Seal(from, text string) string {
	text = source + oneLine(from) + "\n" + text
	return mark + digest(text) + "\n" + text
}

// sealed are the source and the text of a file that an import wrote, and whether it is
// one.
func sealed(file string) (from, text string, ok bool) {
	first, rest, _ := strings.Cut(file, "\n")
	second, text, _ := strings.Cut(rest, "\n")
	from, ok = strings.CutPrefix(second, source)
	return from, text, ok && strings.HasPrefix(first, mark)
}

// Source is what a file was imported from, "" for a file that no import wrote.
func Source(file string) string {
	from, _, ok := sealed(file)
	if !ok {
		return ""
	}
	return from
}

// SameText reports whether two files that imports wrote differ in their sources at most.
func SameText(a, b string) bool {
	_, first, imported := sealed(a)
	_, second, too := sealed(b)
	return imported && too && first == second
}

// Untouched reports whether a file is one that an import wrote from a source and nobody
// changed since, so that another import of the same may replace it.
func Untouched(file, from string) bool {
	head, text, ok := strings.Cut(file, "\n")
	return ok && head == mark+digest(text) && Source(file) == oneLine(from)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// quoted is text as a YAML scalar in single quotes, or in double quotes where
// it has characters that single ones cannot hold.
func quoted(s string) string {
	if strings.ContainsFunc(s, escapedInYAML) {
		return doubleQuoted(s)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// escapedInYAML reports whether a character cannot stand in a scalar as it is: YAML takes
// no control characters and no noncharacters (1.2, 5.1), and breaks lines at some others.
func escapedInYAML(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

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
