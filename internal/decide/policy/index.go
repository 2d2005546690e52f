package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"cardea.dev/internal/decide/policy/engine"
)

// entry is what the index knows of a file.
type entry struct {
	file
	facts engine.Facts
	// broken is the mistake that keeps the file from being parsed. Its facts are
	// those of its head then, or, where lost is set, none.
	broken string
	lost   bool
}

// skipped reports Cupcake's aggregation, which Cardea does by itself.
func (e *entry) skipped() bool { return e.facts.Package == engine.SystemPackage }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// indexVersion is part of every index: one of another version is made anew. It
// changes with the form, and with what OPA's parser accepts.
const indexVersion = "2 opa 1.22.0"

// The index is lines of fields, since it is read at every call, and a few
// hundred lines are split faster than JSON is decoded.
const (
	fieldMark = "\t"
	listMark  = "\x1f"
	lineMark  = "\n"
)

// encode writes the entries that can be believed later.
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
			list(f.Verbs), list(f.Refs), clean(f.Title), clean(f.Description), list(f.Authors), clean(e.broken), mistakes(f.Mistakes)}
		b.WriteString(strings.Join(fields, fieldMark) + lineMark)
	}
	return b.String()
}

// clean is a text without the marks of the index.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func list(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = clean(w)
	}
	return strings.Join(out, listMark)
}

func unlist(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, listMark)
}

func mistakes(all []engine.Problem) string {
	var out []string
	for _, p := range all {
		out = append(out, fmt.Sprintf("%d:%d:%s", p.Line, p.Column, clean(p.Text)))
	}
	return strings.Join(out, listMark)
}

func unmistakes(path, s string) []engine.Problem {
	var out []engine.Problem
	for _, m := range unlist(s) {
		parts := strings.SplitN(m, ":", 3)
		if len(parts) == 3 {
			line, _ := strconv.Atoi(parts[0])
			column, _ := strconv.Atoi(parts[1])
			out = append(out, engine.Problem{File: path, Line: line, Column: column, Text: parts[2]})
		}
	}
	return out
}

// decode reads an index, by path. What it cannot read it leaves out, so that it
// is read from the file.
func decode(text string) (entries map[string]*entry, checked []string) {
	lines := strings.Split(text, lineMark)
	version, digests, _ := strings.Cut(lines[0], fieldMark)
	if version != indexVersion {
		return nil, nil
	}
	out := make(map[string]*entry, len(lines))
	all := make([]entry, 0, len(lines))
	for _, line := range lines[1:] {
		f := strings.Split(line, fieldMark)
		if len(f) != 16 {
			continue
		}
		at, _ := strconv.Atoi(f[4])
		verb, _ := strconv.Atoi(f[5])
		all = append(all, entry{file: file{path: f[0], stamp: f[1]}, broken: f[14], lost: strings.Contains(f[2], "l"),
			facts: engine.Facts{Package: f[3], Line: at, VerbLine: verb, Routed: strings.Contains(f[2], "r"), Events: unlist(f[6]), Tools: unlist(f[7]),
				Signals: unlist(f[8]), Verbs: unlist(f[9]), Refs: unlist(f[10]), Title: f[11], Description: f[12], Authors: unlist(f[13]),
				Mistakes: unmistakes(f[0], f[15])}})
		out[f[0]] = &all[len(all)-1]
	}
	return out, unlist(digests)
}

// entryOf makes the entry of a file that was parsed.
func entryOf(f file, p engine.Parsed) entry {
	e := entry{file: f, facts: p.Facts, lost: p.Lost}
	if len(p.Problems) > 0 {
		e.broken = p.Problems.Error()
		return e
	}
	for _, m := range p.Facts.Mistakes {
		if strings.HasPrefix(m.Text, "required_") || strings.HasPrefix(m.Text, "routing is no map") {
			e.broken = m.String()
		}
	}
	return e
}
