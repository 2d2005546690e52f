package permissionlist

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/jsonedit"
)

// Origin describes a list: its file, its scope, and which of its entries apply.
type Origin struct {
	// Harness is the adapter's name of the harness whose list it is, Title its name for people.
	Harness string
	// File is the file, or "--settings" and the like.
	File  string
	Scope cardea.Scope
	// Allows is set if the entries that allow apply; Why is the reason if not.
	Allows bool
	Why    string
	// Withheld is set if the model does not receive the text of an entry: the file comes from a
	// project that the person has not trusted.
	Withheld bool
	// Source is the folder to which "/path" is relative.
	Source string
	// CommandLine is set for the harness's own flags.
	CommandLine bool

	text []byte // the text of the file
}

// Entry is an entry of a list.
type Entry struct {
	Rule
	// Effect is the effect of the entry: Allow, Ask or Deny.
	Effect cardea.Effect
	// From is the list of the entry, shared by all of its entries.
	From *Origin

	offset int // in the file's text
}

// Source returns the position of the entry: "file:line".
func (e *Entry) Source() string {
	if line := e.Line(); line > 0 {
		return e.From.File + ":" + strconv.Itoa(line)
	}
	return e.From.File
}

// Line returns the line of the file, from 1; 0 for an entry without a file. It is computed on
// demand, since most entries never need it.
func (e *Entry) Line() int {
	if e.From.text == nil {
		return 0
	}
	return 1 + bytes.Count(e.From.text[:e.offset], []byte("\n"))
}

// Column returns the column, in characters from 1; 0 for an entry without a file.
func (e *Entry) Column() int {
	if e.From.text == nil {
		return 0
	}
	_, column := jsonedit.Position(e.From.text, e.offset)
	return column
}

// Counts reports whether the entry applies to events of a harness. Denies and asks apply to every
// harness; allows apply to their own harness if their file may allow.
func (e *Entry) Counts(harness string) bool {
	return e.Form != Nothing && (e.Effect != cardea.Allow || e.From.Allows && e.From.Harness == harness)
}

// Verb returns the effect of an entry in words: "denies", "asks about", "allows".
func Verb(e cardea.Effect) string {
	switch e {
	case cardea.Deny:
		return "denies"
	case cardea.Ask:
		return "asks about"
	}
	return "allows"
}

// SettingsFile holds the permissions in a settings file.
type SettingsFile struct {
	Entries []Entry
	// Left are entries of other harnesses that apply only to their own calls, with the reason in
	// Why.
	Left []Entry
	// ManagedOnly is set if only the entries of managed files allow
	// (allowManagedPermissionRulesOnly).
	ManagedOnly bool
	// Dirs are permissions.additionalDirectories, as written.
	Dirs []string
	// Problems are the mistakes in the file. A file with a mistake beyond a warning is broken. Its
	// readable entries are still here, except those that allow.
	Problems []diagnostic.Diagnostic
	// Stored is the relevant part of the file as JSON, to be saved for the case that the file breaks.
	Stored []byte
}

// maxEntries is the largest number of entries of one file. People's lists have hundreds.
const maxEntries = 20_000

// ReadFormat reads a list in the language of its format.
func ReadFormat(f Format, from *Origin, data []byte) SettingsFile {
	from.text = data
	if len(data) > MaxSize {
		s := SettingsFile{}
		s.problem(from, data, 0, "the file has %d bytes, more than %d", len(data), MaxSize)
		return s
	}
	if f == ClaudeSettings {
		return Read(from, data)
	}
	s := SettingsFile{Stored: data}
	t := translation{&s, from, data}
	switch f {
	case CodexRules:
		t.codex()
	case OpenCodeConfig:
		t.openCode()
	case GeminiPolicy:
		t.gemini()
	case AmpSettings:
		t.amp()
	case AugmentSettings:
		t.augment()
	}
	return s
}

// For returns the same entries for another origin; data is the text of its file.
func (s SettingsFile) For(from *Origin, data []byte) SettingsFile {
	from.text = data
	s.Entries, s.Left, s.Problems, s.Dirs = slices.Clone(s.Entries), slices.Clone(s.Left), slices.Clone(s.Problems), slices.Clone(s.Dirs)
	for _, list := range [][]Entry{s.Entries, s.Left} {
		for i := range list {
			list[i].From = from
		}
	}
	return s
}

// MaxSize is the largest file that is read, in bytes.
const MaxSize = document.MaxSize

// Read reads the permissions of a settings file in Claude Code's form. In a file with comments or
// trailing commas, which the vendor does not document, denies and asks are read, but the file does
// not allow.
func Read(from *Origin, data []byte) SettingsFile {
	from.text = data
	s := SettingsFile{}
	doc, err := jsonedit.Parse(data)
	if err != nil {
		return s.broken(from, data, err)
	}
	if doc.Root.Kind != jsonedit.Object {
		s.problem(from, data, doc.Root.Start, "the file holds %s, not an object", doc.Root.Kind)
		return s
	}
	r := reader{out: &s, from: from, data: data, allows: true}
	if !doc.Plain {
		r.allows = false
		s.Problems = append(s.Problems, diagnostic.Diagnostic{File: from.File, Line: 1, Column: 1, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNotJSON,
			Text: "is JSON with comments or trailing commas, so its entries deny and ask and do not allow", Hint: "remove them; the harness may not read the file at all"})
	}
	lists := doc.Root.All("permissions")
	var stored []string
	for i, n := range lists {
		r.permissions(n, i == len(lists)-1)
		stored = append(stored, `"permissions":`+string(data[n.Start:n.End]))
	}
	if doc.Root.Lit("allowManagedPermissionRulesOnly") == "true" {
		s.ManagedOnly = true
		stored = append(stored, `"allowManagedPermissionRulesOnly":true`)
	}
	s.Stored = []byte("{" + strings.Join(stored, ",") + "}")
	return s
}

func (s SettingsFile) broken(from *Origin, data []byte, err error) SettingsFile {
	p := diagnostic.Diagnostic{File: from.File, Code: diagnostic.CodeSyntax, Text: "not valid JSON: " + err.Error(), Hint: "mend the file"}
	if syntax, ok := err.(*jsonedit.SyntaxError); ok {
		p.Line, p.Column, p.Text = syntax.Line, syntax.Column, "not valid JSON: "+syntax.Text
	}
	s.Problems = append(s.Problems, p)
	return s
}

func (s *SettingsFile) problem(from *Origin, data []byte, at int, format string, args ...any) {
	line, column := jsonedit.Position(data, at)
	s.Problems = append(s.Problems, diagnostic.Diagnostic{File: from.File, Line: line, Column: column, Code: diagnostic.CodeWrongType,
		Text: fmt.Sprintf(format, args...), Hint: "mend the file"})
}

type reader struct {
	out    *SettingsFile
	from   *Origin
	data   []byte
	allows bool
}

// permissions reads the lists. Of two values of one key the harness uses the last, so the first
// only denies and asks.
func (r *reader) permissions(n *jsonedit.Node, last bool) {
	if null(n) {
		return
	}
	if n.Kind != jsonedit.Object {
		r.out.problem(r.from, r.data, n.Start, "permissions is %s, not an object", n.Kind)
		return
	}
	for _, l := range []struct {
		key    string
		effect cardea.Effect
	}{{"deny", cardea.Deny}, {"ask", cardea.Ask}, {"allow", cardea.Allow}} {
		lists := n.All(l.key)
		for i, list := range lists {
			if l.effect != cardea.Allow || r.allows && last && i == len(lists)-1 {
				r.list(l.key, l.effect, list)
			}
		}
	}
	for _, dir := range n.Get("additionalDirectories").Elements() {
		if last && dir.Kind == jsonedit.String {
			r.out.Dirs = append(r.out.Dirs, dir.Text)
		}
	}
}

// null reports whether a node is null.
func null(n *jsonedit.Node) bool { return n.Kind == jsonedit.Literal && n.Text == "null" }

// list reads the entries of one list, and reports values of another type.
func (r *reader) list(key string, effect cardea.Effect, n *jsonedit.Node) {
	if null(n) {
		return
	}
	if n.Kind != jsonedit.Array {
		r.out.problem(r.from, r.data, n.Start, "permissions.%s is %s, not a list", key, n.Kind)
		return
	}
	r.out.Entries = slices.Grow(r.out.Entries, min(len(n.Items), maxEntries))
	begin := len(r.out.Entries)
	defer func() { takeBack(r.out.Entries[begin:]) }()
	for i := range n.Items {
		v := n.Items[i].Value
		switch {
		case len(r.out.Entries) == maxEntries:
			r.out.problem(r.from, r.data, v.Start, "the file has more than %d entries", maxEntries)
			return
		case v.Kind != jsonedit.String:
			r.out.problem(r.from, r.data, v.Start, "permissions.%s holds %s, not a text", key, v.Kind)
		default:
			r.out.Entries = append(r.out.Entries, Entry{Rule: Parse(v.Text, Context{Effect: effect, CommandLine: r.from.CommandLine}),
				Effect: effect, From: r.from, offset: v.Start})
		}
	}
}

// takeBack gives the entries of one list the exceptions that come after them.
func takeBack(list []Entry) {
	for i := range list {
		for j := 0; list[i].Form == Exception && j < i; j++ {
			if e := &list[j]; e.Form == File && e.Tool == list[i].Tool {
				e.more.exceptFiles, e.more.exceptLikeIgnore = append(e.more.exceptFiles, list[i].more.file), true
			} else if e.Form == Whole && e.Effect == cardea.Allow && e.Tool == list[i].Tool {
				*e = Entry{Rule: e.nothing("an entry behind it takes back some of its paths; name the paths that it allows"), Effect: e.Effect, From: e.From, offset: e.offset}
			}
		}
	}
}
