package permissionlist

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/jsonedit"
)

// Origin says where a list lies, whose it is, and what counts of it.
type Origin struct {
	// Harness is the adapter's name of the harness whose list it is, Title what
	// people call it.
	Harness string
	// File is the file, or "--settings" and the like.
	File  string
	Scope cardea.Scope
	// Allows is set where the entries that allow count; Why says why not.
	Allows bool
	Why    string
	// Withheld is set where the model is not told what an entry says: the file
	// comes from a project that the person has not trusted.
	Withheld bool
	// Source is the folder that "/path" is relative to.
	Source string
	// CommandLine is set for the harness's own flags.
	CommandLine bool

	text []byte // of the file
}

// Entry is an entry of a list.
type Entry struct {
	Rule
	// Effect is what the entry wants: Allow, Ask or Deny.
	Effect cardea.Effect
	// From is the list that it stands in, shared by all of its entries.
	From *Origin

	offset int // in the file's text
}

// Source is where the entry stands: "file:line".
func (e *Entry) Source() string {
	if line := e.Line(); line > 0 {
		return e.From.File + ":" + strconv.Itoa(line)
	}
	return e.From.File
}

// Line is the line of the file, from 1; 0 where there is none. It is worked out
// when it is asked for, since nobody asks about most entries.
func (e *Entry) Line() int {
	if e.From.text == nil {
		return 0
	}
	return 1 + bytes.Count(e.From.text[:e.offset], []byte("\n"))
}

// Column is the column, in characters from 1; 0 where there is none.
func (e *Entry) Column() int {
	if e.From.text == nil {
		return 0
	}
	_, column := jsonedit.Position(e.From.text, e.offset)
	return column
}

// Counts reports whether the entry counts for events of a harness: what denies
// or asks counts for all, what allows for its own where its file does.
func (e *Entry) Counts(harness string) bool {
	return e.Form != Nothing && (e.Effect != cardea.Allow || e.From.Allows && e.From.Harness == harness)
}

// Verb is what an entry does, in words: "denies", "asks about", "allows".
func Verb(e cardea.Effect) string {
	switch e {
	case cardea.Deny:
		return "denies"
	case cardea.Ask:
		return "asks about"
	}
	return "allows"
}

// Settings is what a settings file says about permissions.
type Settings struct {
	Entries []Entry
	// Left are entries of other harnesses that apply to calls of their own alone, with the
	// reason in Why.
	Left []Entry
	// ManagedOnly is set where only the entries of managed files allow
	// (allowManagedPermissionRulesOnly).
	ManagedOnly bool
	// Dirs are permissions.additionalDirectories, as written.
	Dirs []string
	// Problems are what is wrong with the file. A file with more than warnings
	// is broken; what could be read of it is here all the same, without what
	// allows.
	Problems []cardea.Diagnostic
	// Kept is the part of the file that says all of this, as JSON, to be kept
	// for when the file breaks.
	Kept []byte
}

// maxEntries is how many entries of one file are read. Lists that people keep
// have hundreds.
const maxEntries = 20_000

// ReadFormat reads a list in its own language.
func ReadFormat(f Format, from *Origin, data []byte) Settings {
	from.text = data
	if len(data) > MaxSize {
		s := Settings{}
		s.problem(from, data, 0, "the file has %d bytes, more than %d", len(data), MaxSize)
		return s
	}
	if f == ClaudeSettings {
		return Read(from, data)
	}
	s := Settings{Kept: data}
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

// For are the same entries, of a list of which something else counts: data is its text.
func (s Settings) For(from *Origin, data []byte) Settings {
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

// Read reads the permissions of a settings file in Claude Code's form. Comments
// and trailing commas, which the vendor does not document, are read where they
// deny and ask; the file does not allow then.
func Read(from *Origin, data []byte) Settings {
	from.text = data
	s := Settings{}
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
		s.Problems = append(s.Problems, cardea.Diagnostic{File: from.File, Line: 1, Column: 1, Severity: cardea.LevelWarning, Code: cardea.CodeNotJSON,
			Text: "is JSON with comments or trailing commas, so its entries deny and ask and do not allow", Hint: "remove them; the harness may not read the file at all"})
	}
	lists := doc.Root.All("permissions")
	var kept []string
	for i, n := range lists {
		r.permissions(n, i == len(lists)-1)
		kept = append(kept, `"permissions":`+string(data[n.Start:n.End]))
	}
	if doc.Root.Lit("allowManagedPermissionRulesOnly") == "true" {
		s.ManagedOnly = true
		kept = append(kept, `"allowManagedPermissionRulesOnly":true`)
	}
	s.Kept = []byte("{" + strings.Join(kept, ",") + "}")
	return s
}

func (s Settings) broken(from *Origin, data []byte, err error) Settings {
	p := cardea.Diagnostic{File: from.File, Code: cardea.CodeSyntax, Text: "not valid JSON: " + err.Error(), Hint: "mend the file"}
	if syntax, ok := err.(*jsonedit.SyntaxError); ok {
		p.Line, p.Column, p.Text = syntax.Line, syntax.Column, "not valid JSON: "+syntax.Text
	}
	s.Problems = append(s.Problems, p)
	return s
}

func (s *Settings) problem(from *Origin, data []byte, at int, format string, args ...any) {
	line, column := jsonedit.Position(data, at)
	s.Problems = append(s.Problems, cardea.Diagnostic{File: from.File, Line: line, Column: column, Code: cardea.CodeWrongType,
		Text: fmt.Sprintf(format, args...), Hint: "mend the file"})
}

type reader struct {
	out    *Settings
	from   *Origin
	data   []byte
	allows bool
}

// permissions reads the lists. Of two values of one key the harness takes the
// last, so the first only denies and asks.
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

// null reports what stands in the place of nothing.
func null(n *jsonedit.Node) bool { return n.Kind == jsonedit.Literal && n.Text == "null" }

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

// takeBack gives the entries of one list the exceptions that stand behind them.
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
