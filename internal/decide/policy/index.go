package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/policy/engine"
)

// entry is the record of a file in the index.
type entry struct {
	file
	facts engine.Facts
	// broken is the mistake that prevents parsing the file. Its facts are then those of its
	// head. If lost is set, there are no facts.
	broken *diagnostic.Diagnostic
	lost   bool
	// mistake is a mistake in its METADATA that does not affect the routing.
	mistake *diagnostic.Diagnostic
}

// skipped reports whether the file is Cupcake's aggregation, which Cardea replaces.
func (e *entry) skipped() bool { return e.facts.Package == engine.SystemPackage }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// indexVersion is part of every index. An index of another version is discarded. It changes
// with the format, and with the syntax that is accepted.
const indexVersion = "7 opa 1.22.0"

// The index consists of lines of fields. It is read at every call, and splitting a few
// hundred lines is faster than decoding JSON.
const (
	fieldMark = "\t"
	listMark  = "\x1f"
	lineMark  = "\n"
)

// encode writes the entries that stay valid.
func encode(entries []entry, checked []string) string {
	var b strings.Builder
	b.WriteString(indexVersion + fieldMark + list(checked) + lineMark)
	for i := range entries {
		e := &entries[i]
		if e.fresh || e.wrong != "" {
			continue
		}
		f := &e.facts
		flags := ""
		if f.Routed {
			flags += "r"
		}
		if e.lost {
			flags += "l"
		}
		fields := []string{e.path, e.stamp, flags, f.Package, strconv.Itoa(f.Line), strconv.Itoa(f.VerbLine), list(f.Events), list(f.Tools), list(f.Signals),
			list(f.Verbs), list(f.Refs), clean(f.Title), clean(f.Description), list(f.Authors), brokenText(e.broken), brokenText(e.mistake), list(f.Data)}
		b.WriteString(strings.Join(fields, fieldMark) + lineMark)
	}
	return b.String()
}

// clean replaces the marks of the index by blanks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func list(words []string) string {
	return strings.Join(lists.Of(words, clean), listMark)
}

func unlist(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, listMark)
}

// brokenText returns a mistake in the format of the index, "" for nil.
func brokenText(d *diagnostic.Diagnostic) string {
	if d == nil {
		return ""
	}
	return strings.Join([]string{string(d.Code), strconv.Itoa(d.Line), strconv.Itoa(d.Column), clean(d.Text), clean(d.Hint)}, listMark)
}

// brokenOf reads the result of brokenText.
func brokenOf(path, s string) *diagnostic.Diagnostic {
	f := strings.Split(s, listMark)
	if len(f) != 5 {
		return nil
	}
	line, _ := strconv.Atoi(f[1])
	column, _ := strconv.Atoi(f[2])
	return &diagnostic.Diagnostic{File: path, Line: line, Column: column, Code: diagnostic.Code(f[0]), Text: f[3], Hint: f[4]}
}

// decode reads an index. It omits entries that it cannot read, so that they are read from
// the files.
func decode(text string) (entries []entry, checked []string) {
	head, rest, _ := strings.Cut(text, lineMark)
	version, digests, _ := strings.Cut(head, fieldMark)
	if version != indexVersion {
		return nil, nil
	}
	entries = make([]entry, 0, strings.Count(rest, lineMark))
	lists := unlister{}
	for line := range strings.SplitSeq(rest, lineMark) {
		var f [17]string
		n := 0
		for field := range strings.SplitSeq(line, fieldMark) {
			if n < len(f) {
				f[n] = field
			}
			n++
		}
		if n != len(f) {
			continue
		}
		at, _ := strconv.Atoi(f[4])
		verb, _ := strconv.Atoi(f[5])
		entries = append(entries, entry{file: file{path: f[0], stamp: f[1]}, broken: brokenOf(f[0], f[14]), mistake: brokenOf(f[0], f[15]), lost: strings.Contains(f[2], "l"),
			facts: engine.Facts{Package: f[3], Line: at, VerbLine: verb, Routed: strings.Contains(f[2], "r"), Events: lists.of(f[6]), Tools: lists.of(f[7]),
				Signals: lists.of(f[8]), Verbs: lists.of(f[9]), Refs: lists.of(f[10]), Title: f[11], Description: f[12], Authors: lists.of(f[13]), Data: lists.of(f[16])}})
	}
	return entries, unlist(digests)
}

// unlister reads lists, and shares equal ones, since most policies have the same events.
// The lists must not be changed.
type unlister map[string][]string

func (u unlister) of(s string) []string {
	out, there := u[s]
	if !there {
		out = unlist(s)
		u[s] = slices.Clip(out)
	}
	return out
}

// without returns the entry of a file without known facts, and the reason. For a data
// document, it lists what the file may define. Then policies that refer to it are
// uncertain, and others are not affected.
func without(f Folder, at file, why *diagnostic.Diagnostic) entry {
	e := entry{file: at, broken: why, lost: true}
	if below := f.mount(at.path); below != "" {
		e.facts.Data, e.lost = []string{"*"}, false
		if names := strings.Trim(below, "/"); names != "" {
			e.facts.Data = []string{strings.ReplaceAll(names, "/", ".")}
		}
	}
	return e
}

// entryOf returns the entry of a parsed file.
func entryOf(f file, p engine.Parsed) entry {
	e := entry{file: f, facts: p.Facts, lost: p.Lost}
	if len(p.Problems) > 0 {
		e.broken = &coded(engine.CodeParse, p.Problems)[0]
		return e
	}
	for i := range p.Facts.Mistakes {
		if m := &p.Facts.Mistakes[i]; m.Code == diagnostic.CodeWrongType {
			e.broken = m
		} else if e.mistake == nil {
			e.mistake = m
		}
	}
	return e
}
