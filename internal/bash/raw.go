package bash

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/unknown"
)

// checkRaw records what makes a text opaque wherever it stands. A backslash in front of a
// carriage return quotes that alone: the line ends, and the next one is a command.
func (w *walker) checkRaw(text string) {
	if reason := rawCheck(text); reason != 0 {
		w.unknown(reason, text)
	}
	if ends := strings.ReplaceAll(text, "\\\r\n", "\n"); ends != text {
		w.runLater("\\", ends)
	}
}

// rawCheck looks for what makes a text opaque wherever it stands. docs/analysis.md
// lists the cases. It returns why the
// text is opaque, or "".
func rawCheck(text string) unknown.Reason {
	switch {
	case !utf8.ValidString(text):
		return unknown.NotUTF8
	case strings.ContainsRune(text, '\r'):
		return unknown.CarriageReturn
	case strings.ContainsRune(text, 0):
		return unknown.NULByte
	}
	return 0
}

// span is a stretch of the text, and whether bash takes it as it stands.
type span struct{ from, to int }

// holds reports whether one of the spans, which are in order and apart, holds
// an offset.
func holds(spans []span, i int) bool {
	at, found := slices.BinarySearchFunc(spans, i, func(s span, i int) int { return s.from - i })
	return found || at > 0 && i < spans[at-1].to
}

// hiddenCheck looks for characters that a person does not see, or that bash
// takes as part of a word. Literal spans (single quotes, here-documents with a
// quoted delimiter) may hold them; other quoted text may hold blanks.
func hiddenCheck(text string, literal, quoted []span) unknown.Reason {
	for i, r := range text {
		if r == '$' && strings.HasPrefix(text[i:], "$\\\n") && !holds(literal, i) {
			return unknown.DollarAtEnd
		}
		if r == '$' && zshForm(text, i) && !holds(literal, i) {
			return unknown.ZshDollar
		}
		if r >= 0x20 && r < 0x7f || r == '\n' || r == '\t' {
			continue
		}
		if reason := hiddenRune(r); reason != 0 && !holds(literal, i) {
			return reason
		}
		if oddBlank(r) && !holds(literal, i) && !holds(quoted, i) {
			return unknown.OddBlank
		}
	}
	return 0
}

// oddBlank reports whether r looks like a blank and is none to bash.
func oddBlank(r rune) bool {
	return r >= 0x2000 && r <= 0x200a || slices.Contains([]rune{0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000}, r)
}

// hiddenRune says why a character outside of single quotes makes a line
// opaque: control characters, which bash takes as part of a word, and
// characters that a person does not see or sees in another place.
func hiddenRune(r rune) unknown.Reason {
	switch {
	case r == '\n' || r == '\t':
		return 0
	case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
		return unknown.ControlCharacter
	case r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0xad, r == 0x180e, r == 0x034f,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r >= 0xe0000 && r <= 0xe007f:
		return unknown.UnseenCharacter
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x061c:
		return unknown.TextDirection
	}
	return 0
}

// nesting estimates how deeply a text nests, from above: it counts openers as
// written, wherever they stand.
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
		return maxNesting + 1
	}
	return deepest
}

// treeCheck looks for spots in the tree where the parser is known to read
// something else than bash or zsh do.
// It gives what stands in the tree that is noted besides, so that a long line is walked
// through once.
func (w *walker) treeCheck(file []*syntax.Stmt) noted {
	var out noted
	quotedParam := func(n syntax.Node) {
		syntax.Walk(n, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && !p.Short && strings.Contains(w.source(p), "'") {
				w.unknown(unknown.QuotesInQuotes, w.source(p))
			}
			_, sub := n.(*syntax.CmdSubst)
			return !sub
		})
	}
	var literal, quoted []span
	var docs []*syntax.Redirect
	spanOf := func(n syntax.Node) span { return span{int(n.Pos().Offset()), int(n.End().Offset())} }
	quotedText := func(p syntax.WordPart) { // not what is substituted in between
		if lit, ok := p.(*syntax.Lit); ok {
			quoted = append(quoted, spanOf(lit))
		}
	}
	test := 0 // inside [[ ]], where patterns are no file names
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			literal = append(literal, spanOf(n))
		case *syntax.DblQuoted:
			for _, p := range n.Parts {
				quotedText(p)
				quotedParam(p)
			}
		case *syntax.CmdSubst:
			if !n.Backquotes {
				w.printedCheck(n.Stmts)
			}
		case *syntax.ProcSubst:
			w.printedCheck(n.Stmts)
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				w.endCheck(a)
			}
			for _, word := range n.Args {
				w.endCheck(word)
			}
		case *syntax.DeclClause:
			out.clauses = append(out.clauses, n)
			for _, a := range n.Args {
				w.endCheck(a)
			}
		case *syntax.Assign:
			if n.Name != nil && (n.Array != nil || n.Index != nil) {
				out.lists = append(out.lists, n.Name.Value)
			}
		case *syntax.LetClause:
			w.letCheck(n)
		case *syntax.Redirect:
			w.heredocCheck(n)
			if n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc {
				docs = append(docs, n)
			}
			w.descriptorCheck(n)
			if n.Word != nil {
				w.endCheck(n.Word)
			}
			switch {
			case n.Hdoc == nil:
			case quotedDelimiter(n.Word):
				literal = append(literal, spanOf(n.Hdoc))
			default:
				for _, p := range n.Hdoc.Parts {
					quotedText(p)
				}
				quotedParam(n.Hdoc)
			}
			if n.Word != nil && strings.HasPrefix(w.source(n.Word), "!") {
				w.unknown(unknown.ZshRedirection, w.source(n))
			}
		case *syntax.Stmt:
			if _, function := n.Cmd.(*syntax.FuncDecl); function {
				out.functions = append(out.functions, n)
			}
			if at := int(n.Semicolon.Offset()) + 1; n.Background && at < len(w.src) && w.src[at] == '!' {
				w.unknown(unknown.ZshBackground, w.source(n))
			}
		case *syntax.ParamExp:
			w.zshParam(n)
			if src := w.source(n); !n.Short && (strings.Contains(src, "<(") || strings.Contains(src, ">(")) {
				w.unknown(unknown.HiddenSubstitution, src)
			}
		case *syntax.ExtGlob:
			if strings.ContainsAny(n.Pattern.Value, "$`<>(") {
				w.unknown(unknown.HiddenPattern, w.source(n))
			}
			if test == 0 {
				w.unknown(unknown.ExtendedPattern, w.source(n))
			}
		case *syntax.TestClause:
			test++
			syntax.Walk(n.X, visit)
			test--
			return false
		case *syntax.CaseItem:
			test++
			for _, p := range n.Patterns {
				syntax.Walk(p, visit)
			}
			test--
			for _, s := range n.Stmts {
				syntax.Walk(s, visit)
			}
			return false
		case *syntax.Word:
			w.zshWord(n)
		}
		return true
	}
	for _, st := range file {
		syntax.Walk(st, visit)
	}
	w.placeCheck(docs)
	byStart := func(a, b span) int { return a.from - b.from }
	slices.SortFunc(literal, byStart)
	slices.SortFunc(quoted, byStart)
	for _, check := range []func(string, []span, []span) unknown.Reason{hiddenCheck, commentCheck} {
		if reason := check(w.src, literal, quoted); reason != 0 {
			w.unknown(reason, w.src)
		}
	}
	return out
}

// noted are the declarations of a script, wherever they stand.
type noted struct {
	clauses   []*syntax.DeclClause
	lists     []string // variables that are arrays
	functions []*syntax.Stmt
}

// commentCheck finds comments that end in a backslash: the parser joins the
// next line to them, bash runs it. It looks at the text instead of the tree,
// since the parser keeps only some comments.
func commentCheck(text string, literal, quoted []span) unknown.Reason {
	for at := 0; ; {
		i := strings.Index(text[at:], "\\\n")
		if i < 0 {
			return 0
		}
		i += at
		begin := strings.LastIndexByte(text[:i], '\n') + 1
		for j := begin; j < i; j++ {
			if text[j] != '#' || j > begin && !strings.ContainsRune(" \t;&|()<>`", rune(text[j-1])) {
				continue
			}
			if !holds(literal, j) && !holds(quoted, j) {
				return unknown.CommentBackslash
			}
		}
		at = i + 2
	}
}

// zshWord finds words that only zsh would execute.
func (w *walker) zshWord(word *syntax.Word) {
	if src := w.source(word); len(src) > 1 && src[0] == '=' && isNameStart(src[1]) {
		w.unknown(unknown.ZshEquals, src)
	}
}

// endCheck finds words that the parser ends in the middle of what bash reads as
// one: in $( ) it takes the # of $x# for a comment.
func (w *walker) endCheck(n syntax.Node) {
	if end := int(n.End().Offset()); end > 0 && end < len(w.src) && strings.IndexByte(" \t\n;&|()<>`\\", w.src[end]) < 0 {
		w.unknown(unknown.WordEnd, w.source(n)+w.src[end:])
	}
}

// letCheck finds operators in a let that bash reads as redirections, lists or
// patterns before let is passed anything.
func (w *walker) letCheck(c *syntax.LetClause) {
	for _, x := range c.Exprs {
		if word, ok := x.(*syntax.Word); ok && word.Lit() == "" {
			continue // quoted, or the value of something
		}
		if strings.ContainsAny(w.source(x), "<>&|();*?[]{}~#\"'$` \t\n\\") {
			w.unknown(unknown.LetOperator, w.source(c))
			return
		}
	}
}

// descriptorCheck finds words behind <&- and >&-, which bash takes as a whole
// while the parser reads "-word" as the target.
func (w *walker) descriptorCheck(r *syntax.Redirect) {
	if r.Op != syntax.DplIn && r.Op != syntax.DplOut {
		return
	}
	if src := w.source(r.Word); strings.HasPrefix(src, "-") && src != "-" {
		w.unknown(unknown.WordAfterClose, w.source(r))
	}
}

func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// plainName reports whether s is a variable's name and nothing else.
func plainName(s string) bool {
	return s != "" && isNameStart(s[0]) && !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !isNameByte(byte(r)) })
}

func isNameByte(c byte) bool { return isNameStart(c) || c >= '0' && c <= '9' }

// plainNumber reports whether s is an integer constant of bash's arithmetic.
func plainNumber(s string) bool {
	s = strings.TrimPrefix(strings.TrimSpace(s), "-")
	if strings.ContainsAny(s, "abcdefABCDEF") && !strings.ContainsAny(s, "#x") {
		return false
	}
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789abcdefABCDEF#x") == ""
}
