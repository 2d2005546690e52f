// Package scan finds secrets in files and in what git is about to commit, so that
// none gets into a repository. What a secret is, package redact says.
//
// What it cannot search it names, since a file that nobody looked into is not clean.
package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cardea.dev/internal/command/redact"
)

// AllowMark is the comment by which a person says that a line, or the next one,
// holds no secret.
const AllowMark = "cardea:allow-secret"

const (
	// maxFile is how large a file may be to be searched, in bytes.
	maxFile = 64 << 20
	// piece is how much text is searched at once, in bytes. A search costs more for
	// each byte the longer the text is in which something is found.
	piece = 4 << 10
	// overlap is how much of a piece the next one begins with, in bytes, for what
	// stands in several lines.
	overlap = 512
	// binaryHead is how much of a file is looked at to tell text from others, in
	// bytes: the same as git looks at.
	binaryHead = 8000
)

// Finding is a secret in a file.
type Finding struct {
	// File is the file's name: as it was named, or in git from the root of the
	// repository.
	File string
	// Line and Column count from 1, columns in characters. Both are 0 for a secret
	// in the name of the file.
	Line, Column int
	// Kind is that of the finder ([redact.Finding]), Characters the length of the
	// secret.
	Kind       string
	Characters int
}

// Gap is a file that was not searched, or not as a whole.
type Gap struct {
	File string
	// Why says what kept the search from it.
	Why string
}

// Result is what a search found.
type Result struct {
	Findings []Finding
	Gaps     []Gap
	// Files is how many files were searched, Bytes how large they are together.
	Files int
	Bytes int64
	// Binary is how many of them are no text, and were searched for known forms of
	// tokens only.
	Binary int
	// Allowed is how many secrets a comment declares to be none.
	Allowed int
	// Links and Submodules are how many of these were passed: a link's target is
	// another file, and a submodule a repository of its own.
	Links, Submodules int
}

// Clean reports whether everything was searched and nothing was found.
func (r *Result) Clean() bool { return len(r.Findings) == 0 && len(r.Gaps) == 0 }

// add joins the result of another search.
func (r *Result) add(o Result) {
	r.Findings, r.Gaps = append(r.Findings, o.Findings...), append(r.Gaps, o.Gaps...)
	r.Files, r.Bytes, r.Binary = r.Files+o.Files, r.Bytes+o.Bytes, r.Binary+o.Binary
	r.Allowed, r.Links, r.Submodules = r.Allowed+o.Allowed, r.Links+o.Links, r.Submodules+o.Submodules
}

// tooLarge is why a file of a size is not searched, "" where it is.
func tooLarge(size int64) string {
	if size <= maxFile {
		return ""
	}
	return fmt.Sprintf("it has %d MiB, and at most %d are searched", size>>20, maxFile>>20)
}

// searchFile searches the contents of a file, and its name.
func searchFile(r *redact.Redactor, name string, data []byte) Result {
	out := Result{Files: 1, Bytes: int64(len(data))}
	for _, f := range r.Find(name) {
		if f.Known {
			out.Findings = append(out.Findings, Finding{File: name, Kind: f.Kind, Characters: utf8.RuneCountInString(name[f.Start:f.End])})
		}
	}
	text, isText := textOf(data)
	if !isText {
		out.Binary = 1
	}
	s := search{redactor: r, text: text, onlyKnown: !isText}
	s.run()
	if s.costly {
		out.Gaps = append(out.Gaps, Gap{name, fmt.Sprintf("line %d and what follows it take too long to search; write it in another way", s.lineOf(s.costlyAt))})
	}
	code := slices.Contains(quoting, strings.ToLower(path.Ext(filepath.ToSlash(name))))
	for _, f := range s.found {
		if code && s.expression(f) {
			continue
		}
		if s.allowed(f) {
			out.Allowed++
			continue
		}
		begin := s.lineStart(f.Start)
		out.Findings = append(out.Findings, Finding{File: name, Line: s.lineOf(f.Start), Column: utf8.RuneCountInString(text[begin:f.Start]) + 1,
			Kind: f.Kind, Characters: utf8.RuneCountInString(text[f.Start:f.End])})
	}
	return out
}

// quoting are the endings of files of languages in which a text constant is quoted.
var quoting = []string{".c", ".cc", ".cpp", ".cs", ".dart", ".ex", ".exs", ".go", ".h", ".hpp", ".java", ".js", ".jsx", ".kt", ".lua", ".m", ".mjs", ".php",
	".pl", ".pm", ".py", ".rb", ".rs", ".scala", ".swift", ".ts", ".tsx", ".vue", ".zig"}

// expression reports whether a finding, in code, is no constant but a name or a call:
// token = parse(line). What has a digit in it is not, for it may stand in a comment.
func (s *search) expression(f redact.Finding) bool {
	if f.Known || f.Start > 0 && strings.IndexByte("\"'`", s.text[f.Start-1]) >= 0 {
		return false
	}
	value := s.text[f.Start:f.End]
	after := strings.TrimLeft(value, nameLetters+"0123456789")
	if len(after) < len(value) && strings.HasPrefix(value, strings.TrimLeft(value, "0123456789")) && (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "[")) {
		return true
	}
	return !f.Placed && !strings.ContainsAny(value, "0123456789\"'`")
}

// nameLetters are those of names, and the dot between them.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_."

// textOf is a file's text. A file with zero bytes is no text, unless it says that it
// is UTF-16; of another one the readable pieces are left, each where it stands, so
// that no zero byte hides the rest.
func textOf(data []byte) (text string, isText bool) {
	if t, ok := wide(data); ok {
		return t, true
	}
	if bytes.IndexByte(data[:min(len(data), binaryHead)], 0) < 0 {
		return string(data), true
	}
	readable := make([]byte, len(data))
	for i, c := range data {
		readable[i] = c
		if c < ' ' && c != '\t' && c != '\r' || c > '~' {
			readable[i] = '\n'
		}
	}
	return string(readable), false
}

// wide is text in UTF-16 with its mark in front, as Windows writes it.
func wide(data []byte) (string, bool) {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return "", false
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return string(utf16.Decode(units)), true
}

// search is a search in one text.
type search struct {
	redactor *redact.Redactor
	text     string
	// onlyKnown leaves out what is a secret only where it stands.
	onlyKnown bool
	found     []redact.Finding
	// costly is set where a piece takes too long, which begins at costlyAt. The search
	// ends there.
	costly   bool
	costlyAt int
	// starts are where the lines begin, once somebody asks.
	starts []int
}

// run searches the text piece by piece.
func (s *search) run() {
	for at := 0; at < len(s.text) && !s.costly; {
		end := s.pieceEnd(at)
		s.look(s.pieceBegin(at), end)
		at = end
	}
}

// pieceEnd is where the piece ends that begins at a place: at the end of a line where
// there is one, else where it is long enough.
func (s *search) pieceEnd(at int) int {
	if len(s.text)-at <= piece {
		return len(s.text)
	}
	if i := strings.LastIndexByte(s.text[at:at+piece], '\n'); i >= 0 {
		return at + i + 1
	}
	return at + piece
}

// pieceBegin is where a piece begins that is to begin at a place, with what stands
// before it: at the begin of a line where there is one.
func (s *search) pieceBegin(at int) int {
	from := max(0, at-overlap)
	if i := strings.IndexByte(s.text[from:at], '\n'); from > 0 && i >= 0 {
		return from + i + 1
	}
	return from
}

// look searches a piece.
func (s *search) look(begin, end int) {
	for _, f := range s.redactor.Find(s.text[begin:end]) {
		f.Start, f.End = f.Start+begin, f.End+begin
		switch {
		case f.Kind == redact.Unsearched:
			s.costly, s.costlyAt = true, begin
		case f.Kind == redact.Repeated, s.onlyKnown && !f.Known:
		case s.has(f):
		default:
			s.found = append(s.found, f)
		}
	}
}

// has reports whether a secret was found already, by a piece that overlaps.
func (s *search) has(f redact.Finding) bool {
	for i := len(s.found) - 1; i >= 0 && s.found[i].End > f.Start-overlap; i-- {
		if s.found[i].Start < f.End && f.Start < s.found[i].End {
			s.found[i].Start, s.found[i].End = min(s.found[i].Start, f.Start), max(s.found[i].End, f.End)
			return true
		}
	}
	return false
}

// lines are where the lines begin.
func (s *search) lines() []int {
	if s.starts == nil {
		s.starts = []int{0}
		for i := range len(s.text) {
			if s.text[i] == '\n' {
				s.starts = append(s.starts, i+1)
			}
		}
	}
	return s.starts
}

// lineOf is the number of the line that holds a byte, from 1.
func (s *search) lineOf(at int) int {
	i, exact := slices.BinarySearch(s.lines(), at)
	if exact {
		i++
	}
	return i
}

func (s *search) lineStart(at int) int { return s.lines()[s.lineOf(at)-1] }

// allowed reports whether a line of a secret, or the line before, says that it is
// none.
func (s *search) allowed(f redact.Finding) bool {
	first := max(1, s.lineOf(f.Start)-1)
	end := len(s.text)
	if last := s.lineOf(max(f.Start, f.End-1)); last < len(s.lines()) {
		end = s.lines()[last]
	}
	return strings.Contains(s.text[s.lines()[first-1]:end], AllowMark)
}
