package grammar

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
)

// printedCheck records here-documents in $( ) and <( ) followed by commands after a
// semicolon or an ampersand. bash prints the substitution and reads it again, and loses
// a separator there: $(a <<E; b; c …) runs "b c".
func (s *Script) printedCheck(stmts []*syntax.Stmt) {
	if len(stmts) == 0 {
		return
	}
	end := min(int(stmts[len(stmts)-1].End().Offset()), len(s.Text))
	for _, st := range stmts {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false // checked separately
			case *syntax.Redirect:
				if (n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc) && separates(s.behind(n, end)) {
					s.doubt(unknown.LostSeparator, s.Source(st))
				}
			}
			return true
		})
	}
}

// behind returns the text after a here-document up to offset end, without its body.
func (s *Script) behind(r *syntax.Redirect, end int) string {
	line, after := r.Word.End(), r.Word.End()
	if r.Hdoc != nil {
		after = r.Hdoc.End()
	}
	rest, _, _ := strings.Cut(s.Text[line.Offset():], "\n")
	return rest + s.Text[min(int(after.Offset()), end):end]
}

func separates(text string) bool {
	for _, joint := range []string{"&&", ">&", "<&", "&>"} {
		text = strings.ReplaceAll(text, joint, "")
	}
	return strings.ContainsAny(text, ";&")
}

// heredocCheck records here-documents that bash ends at another line than the parser.
// bash reads lines before expansions, joins lines that end in a backslash, and inside $(
// ) ends at a line that only begins with the delimiter.
func (s *Script) heredocCheck(r *syntax.Redirect) {
	if r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc {
		return
	}
	mark, ok := Literal(r.Word)
	if !ok || mark == "" || len(r.Word.Parts) != 1 || strings.Trim(mark, texts.WordBytes) != "" {
		s.doubt(unknown.HereDelimiter, s.Source(r))
		return
	}
	if r.Hdoc == nil {
		return
	}
	body := HereBody(s.Text, r)
	if !QuotedDelimiter(r.Word) {
		body = strings.ReplaceAll(body, "\\\n", "")
	}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(strings.TrimLeft(line, "\t"), mark) {
			s.doubt(unknown.HereEnd, line)
			return
		}
	}
}

// QuotedDelimiter reports whether the delimiter of a here-document is quoted, so that nothing in it is expanded.
func QuotedDelimiter(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, "\\") {
				return true
			}
		}
	}
	return false
}

var leadingTabs = regexp.MustCompile(`(?m)^\t+`)

// HereText returns the body of a here-document, and whether nothing in it is expanded.
func HereText(r *syntax.Redirect) (string, bool) {
	if r.Hdoc == nil {
		return "", true
	}
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.WriteString(lit.Value)
	}
	text := b.String()
	if r.Op == syntax.DashHdoc {
		text = leadingTabs.ReplaceAllString(text, "")
	}
	if !QuotedDelimiter(r.Word) {
		text = texts.UnescapeHeredoc(text)
	}
	return text, true
}

// placeCheck records here-documents whose body the parser reads at another place. For bash it
// begins after the line of the operator. After ]] the parser misses the end of that line.
func (s *Script) placeCheck(docs []*syntax.Redirect) {
	slices.SortFunc(docs, func(a, b *syntax.Redirect) int { return int(a.Pos().Offset()) - int(b.Pos().Offset()) })
	line, next := -1, 0 // where the line of the last operator ends, and its last body
	for _, r := range docs {
		at := min(int(r.Word.End().Offset()), len(s.Text))
		if at > line {
			end := strings.IndexByte(s.Text[at:], '\n')
			if end < 0 {
				continue // no body at all
			}
			line = at + end
			next = line + 1
		}
		body := s.bodyAt(next, r)
		if r.Hdoc == nil && body != 0 || r.Hdoc != nil && !within(int(r.Hdoc.Pos().Offset()), next, s.Text) {
			s.doubt(unknown.HerePlace, s.Source(r))
			return
		}
		next += body
		if end := strings.IndexByte(s.Text[min(next, len(s.Text)):], '\n'); end >= 0 {
			next += end + 1 // after the line that ends it
		}
	}
}

// within reports whether only tabs are between the offsets from and at.
func within(at, from int, src string) bool {
	return at >= from && at <= len(src) && strings.Trim(src[from:at], "\t") == ""
}

// bodyAt returns the size of the body that begins at an offset.
func (s *Script) bodyAt(from int, r *syntax.Redirect) int {
	mark, _ := Literal(r.Word)
	size := 0
	for text := range strings.Lines(s.Text[min(from, len(s.Text)):]) {
		text, _ = strings.CutSuffix(text, "\n")
		if r.Op == syntax.DashHdoc && strings.TrimLeft(text, "\t") == mark || text == mark {
			return size
		}
		size += len(text) + 1
	}
	return size
}

// HereBody returns the body of a here-document as it is written in a text.
func HereBody(text string, r *syntax.Redirect) string {
	body := Source(text, r.Hdoc)
	mark, _ := Literal(r.Word)
	if last := strings.LastIndexByte(body, '\n') + 1; strings.TrimLeft(body[last:], "\t") == mark {
		body = body[:last]
	}
	return body
}
