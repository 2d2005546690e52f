// Package document reads the YAML files that people write for Cardea, and reports all
// mistakes at once.
//
// Each mistake has a place and a hint. Getters return the zero value for what is wrong or
// missing, and the [Reader] collects the problems for [Reader.Problems].
//
//	r := document.Read("cardea.yaml", data)
//	top := r.Top().Map()
//	effect := top.Word("on_error", "defer", "deny", "allow")
//	off := top.Map("rules").Texts("off")
//	top.Done() // a warning for each key that was not read
//	return r.Problems()
//
// A pull request can contain the files of a project, so reading is bounded: size, nesting,
// and the nodes that aliases add up to. JSON is YAML, and is read the same way.
package document

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"cardea.dev/internal/base/diagnostic"
)

// The limits of a document.
const (
	// MaxSize is the largest file in bytes.
	MaxSize = 1 << 20
	// MaxDepth is the maximum nesting of values, with aliases followed.
	MaxDepth = 64
	// MaxNodes is the maximum number of values, with aliases followed.
	MaxNodes = 200_000
	// MaxText is the maximum length of all texts together in bytes, with aliases followed.
	MaxText = 16 << 20
	// maxProblems limits the problems reported for one file.
	maxProblems = 100
)

// Reader is a document and the problems found in it so far. It is not safe for concurrent
// use.
type Reader struct {
	file     string
	top      *Node
	problems []diagnostic.Diagnostic
	data     []byte
	split    []string
	keys     string
	hints    func() map[string]string
	shapes   func() map[string]string
	broken   int
	cut      bool
}

// Read parses a file. It never fails: Problems reports what is wrong with the file, and the
// values of a file that cannot be parsed are missing.
func Read(file string, data []byte) *Reader {
	r := &Reader{file: file, data: data}
	if len(data) == 0 {
		return r // the hook has no parser, and an empty file needs none
	}
	if len(data) > MaxSize {
		r.problem(1, 1, diagnostic.CodeTooLarge, "split it into several files", "the file has %d bytes, more than %d", len(data), MaxSize)
		return r
	}
	if parse == nil {
		unread.Store(true)
		r.problem(1, 1, diagnostic.CodeUnreadable, "run \"cardea doctor\"", "the file is not read, since this program reads no YAML")
		return r
	}
	top, second, err := parse(data)
	switch {
	case second != nil:
		r.problem(second.Line, second.Column, diagnostic.CodeSyntax, `remove "---" and what follows, or move it to another file`, "a second document in the file")
	case err != nil:
		r.syntax(err)
	case top != nil && r.bounded(top):
		r.top = top
	}
	return r
}

// ReadNode returns a Reader for a value that is already parsed.
func ReadNode(file string, top *Node) *Reader {
	r := &Reader{file: file}
	if r.bounded(top) {
		r.top = top
	}
	return r
}

// DropNulls removes keys and entries without a value. It is for files of programs that
// treat null as missing.
func (r *Reader) DropNulls() {
	if r.top.dropNulls() {
		r.top = nil
	}
}

// KeysIn sets the page that explains the keys, for the hint of an unknown key.
func (r *Reader) KeysIn(page string) { r.keys = page }

// Hints sets the function that returns hints by key, for keys that other tools have and
// this file does not.
func (r *Reader) Hints(hints func() map[string]string) { r.hints = hints }

// Shapes sets the function that returns hints by key, for values of the wrong shape, such
// as a word in place of a map.
func (r *Reader) Shapes(hints func() map[string]string) { r.shapes = hints }

// known returns the hint for a key, "" if it has none or hints is nil.
func known(hints func() map[string]string, key string) string {
	if hints == nil {
		return ""
	}
	return hints()[key]
}

func (r *Reader) unknownHint() string {
	if r.keys == "" {
		return "remove it"
	}
	return "see " + r.keys + " for the keys"
}

// syntax reports the error of the library for invalid YAML. The library knows at most the
// line; the column is that of its first character.
func (r *Reader) syntax(err error) {
	if line, column, hint := r.orphan(); line > 0 {
		r.problem(line, column, diagnostic.CodeSyntax, hint, "not valid YAML: there is no key above this line")
		return
	}
	if line, column, hint := r.misindented(); line > 0 {
		r.problem(line, column, diagnostic.CodeSyntax, hint, "not valid YAML: the line is indented like none above it")
		return
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if n, after, ok := strings.Cut(rest, ": "); ok {
			if v, err := strconv.Atoi(n); err == nil {
				line, text = v, after
			}
		}
	}
	col := 1
	hint := "check indentation, quotes, brackets and colons in this line and those behind it"
	if lines := bytes.Split(r.data, []byte("\n")); line >= 1 && line <= len(lines) {
		l := lines[line-1]
		col += len(l) - len(bytes.TrimLeft(l, " \t"))
		if bytes.HasPrefix(bytes.TrimLeft(l, " "), []byte("\t")) {
			hint = "indent with spaces, YAML allows no tabs"
		}
	}
	for part, known := range map[string]string{
		"mapping values are not allowed":      `put a text that has ": " in it in quotes, and check indentation`,
		"alphabetic or numeric character":     "put a text that begins with * or & in quotes",
		"cannot start any token":              "put a text that begins with @, ` or % in quotes",
		"found unexpected end of stream":      "close the quotes",
		"could not find expected ':'":         `write "key: value" in each line, with a blank behind the colon`,
		"found unexpected document indicator": "close the quotes",
	} {
		if strings.Contains(text, part) && !strings.Contains(hint, "tabs") {
			hint = known
		}
	}
	r.problem(line, col, diagnostic.CodeSyntax, hint, "not valid YAML: %s", text)
}

// bounded reports whether the document stays within the limits when aliases are followed.
// This also rules out an alias to its own parent. It adds the first violation to the
// problems.
func (r *Reader) bounded(top *Node) bool {
	left, text := MaxNodes, MaxText
	var walk func(n *Node, depth int) bool
	walk = func(n *Node, depth int) bool {
		if left--; left < 0 {
			r.problem(n.Line, n.Column, diagnostic.CodeTooLarge, "use fewer aliases", "the file has more than %d values when aliases are followed", MaxNodes)
			return false
		}
		if text -= len(n.Value); text < 0 {
			r.problem(n.Line, n.Column, diagnostic.CodeTooLarge, "use fewer aliases", "the texts of the file have more than %d bytes when aliases are followed", MaxText)
			return false
		}
		if depth > MaxDepth {
			r.problem(n.Line, n.Column, diagnostic.CodeTooLarge, "flatten it", "values are nested more than %d deep", MaxDepth)
			return false
		}
		if n.Kind == Alias {
			return walk(n.Of, depth+1)
		}
		for _, c := range n.Content {
			if !walk(c, depth+1) {
				return false
			}
		}
		return true
	}
	return walk(top, 1)
}

// Top returns the document's value. It is missing if the file is empty or cannot be parsed.
func (r *Reader) Top() Value {
	v := Value{r: r, node: r.top, name: "the file"}
	if r.top == nil {
		v.line, v.col = 1, 1
	}
	return v
}

// Errors returns the number of errors so far, without warnings. Compare it before and after
// reading an entry to know whether that entry is broken.
func (r *Reader) Errors() int { return r.broken }

// broke returns the text of the error that follows the first before errors. If that one was
// cut by maxProblems, it returns a general text.
func (r *Reader) broke(before int) string {
	for _, p := range r.problems {
		if p.Severity != diagnostic.LevelError {
			continue
		}
		if before--; before < 0 {
			return p.String()
		}
	}
	return r.file + ": there are too many mistakes"
}

// Problems returns all problems so far, sorted by place in the file.
func (r *Reader) Problems() []diagnostic.Diagnostic {
	sort.SliceStable(r.problems, func(i, j int) bool {
		a, b := r.problems[i], r.problems[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return r.problems
}

// add adds a finding, unless the file has maxProblems already.
func (r *Reader) add(d diagnostic.Diagnostic) {
	if d.Severity == diagnostic.LevelError {
		r.broken++
	}
	d.File = r.file
	if len(r.problems) >= maxProblems {
		if r.cut {
			return
		}
		r.cut = true
		d = diagnostic.Diagnostic{File: r.file, Line: d.Line, Column: d.Column, Code: diagnostic.CodeTooLarge,
			Text: "more problems follow", Hint: "correct these first"}
	}
	r.problems = append(r.problems, d)
}

// problem adds an error at a place of the file.
func (r *Reader) problem(line, column int, code diagnostic.Code, hint, format string, args ...any) {
	r.add(diagnostic.Diagnostic{Line: line, Column: column, Code: code, Hint: hint, Text: fmt.Sprintf(format, args...)})
}
