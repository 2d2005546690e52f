// Package grammar parses texts as bash does, and finds the places that the parser
// (mvdan.cc/sh), bash, sh and zsh are known to read in different ways.
package grammar

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/unknown"
)

// Script is a text that a shell reads as commands.
type Script struct {
	// Text is the text that was parsed. Offsets of nodes are offsets in it.
	Text string
	// Stmts are its statements, up to the first error.
	Stmts []*syntax.Stmt
	// Doubts are the spots that a shell may read in another way.
	Doubts []cardea.Opaque
	// Misread is set if the parser refuses a text that bash may run.
	Misread bool
	// Err is the first error of the parser, nil without an error.
	Err error
	// Empty is set for a text without any statement and without an error.
	Empty bool

	// Declarations are its declarations, Arrays the names of its arrays and Functions its
	// functions, at any depth.
	Declarations []*syntax.DeclClause
	Arrays       []string
	Functions    []*syntax.Stmt

	// Closes is set if it may close a descriptor, IgnoresCase if patterns may ignore case,
	// and FindsHidden if they may match hidden names.
	Closes, IgnoresCase, FindsHidden bool
}

const (
	// MaxText is the size in bytes of the longest text that is parsed.
	MaxText = 1 << 20
	// MaxNesting is the depth to which brackets, braces, substitutions and control words may nest.
	MaxNesting = 200
	// maxPatternNames is the number of command names such as c[a]t that a script may have:
	// the parser starts over for each.
	maxPatternNames = 16
	// maxBraces is the number of words that one brace expansion may yield.
	maxBraces = 512
)

// Limit returns why a text is not parsed at all: it is too long, or nests too deeply.
// For other texts it returns the zero reason.
func Limit(text string) unknown.Reason {
	switch {
	case len(text) > MaxText:
		return unknown.TooLongLine
	case nesting(text) >= MaxNesting:
		return unknown.TooDeepLine
	}
	return unknown.Reason{}
}

// Parse parses a text as bash does. posix is set if another sh than bash may run it.
func Parse(text string, posix bool) *Script {
	s := &Script{}
	if reason := rawCheck(text); !reason.None() {
		s.doubt(reason, text)
	}
	parser := parsers.Get().(*syntax.Parser)
	f, err := parser.Parse(strings.NewReader(text), "")
	for tries := 0; err != nil && tries < maxPatternNames; tries++ {
		said, ok := sayPattern(text, err)
		if !ok {
			break
		}
		text = said
		f, err = parser.Parse(strings.NewReader(text), "")
	}
	if s.Text = text; posix && !sameInPOSIX(text) {
		s.doubt(unknown.ReadBySh, text)
	}
	if s.Err = err; err == nil {
		s.Stmts = f.Stmts
	} else {
		s.doubt(unknown.Misread, text, parseReason(err))
		s.Misread = !strings.Contains(parseReason(err), "reached EOF")
		// bash runs the commands before the line with the error.
		for st, serr := range parser.StmtsSeq(strings.NewReader(text)) {
			if serr == nil { // no break: the parser may go on after an error
				s.Stmts = append(s.Stmts, st)
			}
		}
	}
	parsers.Put(parser) // one that panicked is not used again
	s.noteSwitches()
	s.treeCheck()
	s.Empty = len(s.Stmts) == 0 && err == nil
	return s
}

// doubt records a spot that a shell may read in another way.
func (s *Script) doubt(r unknown.Reason, text string, names ...any) {
	s.Doubts = append(s.Doubts, r.Spot(text, names...))
}

// Source returns the text of a node as written.
func (s *Script) Source(n syntax.Node) string { return Source(s.Text, n) }

// Source returns the part of a text from which a node was parsed.
func Source(text string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(text) || from >= to {
		return ""
	}
	return text[from:to]
}

// nesting returns an upper bound of the nesting depth of a text: it counts every opener,
// in any place.
func nesting(text string) int {
	depth, deepest := 0, 0
	open := func(n int) {
		depth += n
		deepest = max(deepest, depth)
		depth = max(depth, 0)
	}
	word := 0
	for i := 0; i <= len(text); i++ {
		var c byte = ' '
		if i < len(text) {
			c = text[i]
		}
		switch c {
		case '(', '{', '[':
			open(1)
		case ')', '}', ']':
			open(-1)
		case '!', '~', '?':
			if i > 0 && text[i-1] == c || i > 1 && text[i-2] == c && text[i-1] == ' ' {
				open(1) // runs of unary and ternary operators recurse in the parser
			}
		case '=':
			if i > 1 && text[i-2] == '=' {
				open(1)
			}
		}
		if c >= 'a' && c <= 'z' {
			continue
		}
		switch text[word:i] {
		case "if", "while", "until", "for", "case", "select", "function", "time", "coproc":
			open(1)
		case "fi", "done", "esac":
			open(-1)
		}
		word = i + 1
	}
	// Backquotes nest by backslashes: each level doubles them.
	if strings.Contains(text, "\\\\\\\\\\\\\\`") {
		return MaxNesting + 1
	}
	return deepest
}

// parsers holds parsers for reuse, since each has large buffers.
var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// sayPattern returns a text in which a command's name such as c[a]rdea begins with an
// empty quoted string. For bash that is the same, and the parser no longer reads an
// assignment to an array element. ok is false for any other error.
func sayPattern(text string, err error) (said string, ok bool) {
	e, ok := err.(syntax.ParseError)
	if !ok || !strings.HasSuffix(e.Text, "must be followed by `=`") {
		return "", false
	}
	at := int(e.Pos.Offset())
	if at > len(text) || !namedByPattern.MatchString(text[at:]) {
		return "", false
	}
	return text[:at] + `""` + text[at:], true
}

// namedByPattern matches a name and a class of characters in which nothing is expanded or quoted.
var namedByPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\[[A-Za-z0-9!^_.,:@%+-]*\]`)

// sameInPOSIX reports whether the grammar of sh reads a text as the grammar of bash does.
func sameInPOSIX(text string) bool {
	var trees [2][]string
	for i, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX} {
		f, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
		if err != nil {
			return false
		}
		syntax.Walk(f, func(n syntax.Node) bool {
			if n != nil {
				trees[i] = append(trees[i], fmt.Sprintf("%T %d %d", n, n.Pos().Offset(), n.End().Offset()))
			}
			return true
		})
	}
	return slices.Equal(trees[0], trees[1])
}

func parseReason(err error) string {
	if e, ok := err.(syntax.ParseError); ok {
		return e.Text
	}
	return err.Error()
}

// closesDescriptor matches what may close a descriptor: >&-, 3>&1-.
var closesDescriptor = regexp.MustCompile(`&[0-9]*-`)

// noteSwitches records which options a script may switch in any place.
func (s *Script) noteSwitches() {
	s.Closes = closesDescriptor.MatchString(s.Text)
	any := strings.Contains(s.Text, "shopt") && strings.ContainsAny(s.Text, `'"\$`)
	s.IgnoresCase = any || strings.Contains(s.Text, "nocase")
	zsh := strings.ReplaceAll(strings.ToLower(s.Text), "_", "")
	s.FindsHidden = any || strings.Contains(zsh, "dotglob") || strings.Contains(zsh, "globdots") || strings.Contains(s.Text, "GLOBIGNORE")
}
