// Package scan finds secrets in files and in what git is about to commit, so that none gets
// into a repository. Package redact defines what a secret is.
//
// The result names every file that it cannot search, since an unsearched file is not clean.
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

// AllowMark is the comment that declares that a line, or the next one, holds no secret.
const AllowMark = "cardea:allow-secret"

const (
	// maxFile is the size in bytes up to which a file is searched.
	maxFile = 64 << 20
	// piece is the number of bytes that are searched at once. A search costs more per byte
	// the longer the text with findings is.
	piece = 4 << 10
	// overlap is the number of bytes of a piece that the next one repeats, for secrets over
	// several lines.
	overlap = 512
	// binaryHead is the number of bytes of a file that decide whether it is text: the same
	// as in git.
	binaryHead = 8000
)

// Finding is a secret in a file.
type Finding struct {
	// File is the file's name: as it was given, or in git relative to the root of the repository.
	File string
	// Line and Column count from 1, columns in characters. Both are 0 for a secret
	// in the name of the file.
	Line, Column int
	// Kind is the kind of the finding ([redact.Finding]), Characters the length of the secret.
	Kind       string
	Characters int
}

// Gap is a file that was not searched, or not as a whole.
type Gap struct {
	File string
	// Why is the reason.
	Why string
}

// Result is the result of a search.
type Result struct {
	Findings []Finding
	Gaps     []Gap
	// Files is the number of files searched, Bytes their total size.
	Files int
	Bytes int64
	// Binary is the number of them that are not text. Those were searched only for known
	// forms of tokens.
	Binary int
	// Allowed is the number of secrets that a comment declares to be none.
	Allowed int
	// Links and Submodules are the numbers of those skipped: a link's target is another
	// file, and a submodule another repository.
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

// tooLarge returns why a file of a size is not searched, or "" if it is.
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

// quoting are the extensions of files in languages that quote text constants.
var quoting = []string{".c", ".cc", ".cpp", ".cs", ".dart", ".ex", ".exs", ".go", ".h", ".hpp", ".java", ".js", ".jsx", ".kt", ".lua", ".m", ".mjs", ".php",
	".pl", ".pm", ".py", ".rb", ".rs", ".scala", ".swift", ".ts", ".tsx", ".vue", ".zig"}

// expression reports whether a finding in code is not a constant but a name or a call:
// token = parse(line). A finding with a digit is not, since it may be in a comment.
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

// nameLetters are the letters of names, and the dot between them.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_."

// textOf returns a file's text. A file with zero bytes is not text, unless it is marked
// as UTF-16. Its readable pieces are returned at their offsets, so that no zero byte
// hides the rest.
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

// wide returns text in UTF-16 with a byte order mark, as Windows writes it.
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
	// onlyKnown excludes findings that are a secret only because of their place.
	onlyKnown bool
	found     []redact.Finding
	// costly is set if a piece, which begins at costlyAt, takes too long. The search ends there.
	costly   bool
	costlyAt int
	// starts are the beginnings of the lines, computed on first use.
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

// pieceEnd returns the end of the piece that begins at an offset: the end of a line if
// there is one, else the maximum size.
func (s *search) pieceEnd(at int) int {
	if len(s.text)-at <= piece {
		return len(s.text)
	}
	if i := strings.LastIndexByte(s.text[at:at+piece], '\n'); i >= 0 {
		return at + i + 1
	}
	return at + piece
}

// pieceBegin returns the beginning of a piece with the overlap before offset at: the
// beginning of a line if there is one.
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

// has reports whether an overlapping piece has already found a secret.
func (s *search) has(f redact.Finding) bool {
	for i := len(s.found) - 1; i >= 0 && s.found[i].End > f.Start-overlap; i-- {
		if s.found[i].Start < f.End && f.Start < s.found[i].End {
			s.found[i].Start, s.found[i].End = min(s.found[i].Start, f.Start), max(s.found[i].End, f.End)
			return true
		}
	}
	return false
}

// lines returns the beginnings of the lines.
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

// lineOf returns the number of the line that holds a byte, from 1.
func (s *search) lineOf(at int) int {
	i, exact := slices.BinarySearch(s.lines(), at)
	if exact {
		i++
	}
	return i
}

func (s *search) lineStart(at int) int { return s.lines()[s.lineOf(at)-1] }

// allowed reports whether a comment on a line of a secret, or on the line before,
// declares it to be none.
func (s *search) allowed(f redact.Finding) bool {
	first := max(1, s.lineOf(f.Start)-1)
	end := len(s.text)
	if last := s.lineOf(max(f.Start, f.End-1)); last < len(s.lines()) {
		end = s.lines()[last]
	}
	return strings.Contains(s.text[s.lines()[first-1]:end], AllowMark)
}
