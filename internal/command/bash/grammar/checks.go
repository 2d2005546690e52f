package grammar

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// rawCheck returns why a whole text is opaque, or the zero reason. docs/analysis.md
// lists the cases.
func rawCheck(text string) unknown.Reason {
	switch {
	case !utf8.ValidString(text):
		return unknown.NotUTF8
	case strings.ContainsRune(text, '\r'):
		return unknown.CarriageReturn
	case strings.ContainsRune(text, 0):
		return unknown.NULByte
	}
	return unknown.Reason{}
}

// span is a half-open range of offsets in a text.
type span struct{ from, to int }

// holds reports whether one of the spans, which are sorted and disjoint, holds offset i.
func holds(spans []span, i int) bool {
	at, found := slices.BinarySearchFunc(spans, i, func(s span, i int) int { return s.from - i })
	return found || at > 0 && i < spans[at-1].to
}

// hiddenCheck returns why a character that a person cannot see, or that bash reads as part of a
// word, makes a text opaque, else the zero reason. Literal spans (single quotes, here-documents
// with a quoted delimiter) may hold such characters. Other quoted text may hold blanks.
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
		if reason := hiddenRune(r); !reason.None() && !holds(literal, i) {
			return reason
		}
		if unicode.Is(unicode.Z, r) && !holds(literal, i) && !holds(quoted, i) {
			return unknown.UnusualBlank
		}
	}
	return unknown.Reason{}
}

// hiddenRune returns why a character outside of single quotes makes a line opaque:
// control characters, which bash reads as part of a word, and characters that a person
// cannot see or sees in another place. It returns the zero reason for others.
func hiddenRune(r rune) unknown.Reason {
	switch {
	case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
		return unknown.ControlCharacter
	case r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0xad, r == 0x180e, r == 0x034f,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r >= 0xe0000 && r <= 0xe007f:
		return unknown.UnseenCharacter
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x061c:
		return unknown.TextDirection
	}
	return unknown.Reason{}
}

// treeCheck records the spots in the tree where the parser is known to read something
// else than bash or zsh. It also records the declarations of the script, so that a long
// line is walked once.
func (s *Script) treeCheck() {
	quotedParam := func(n syntax.Node) {
		syntax.Walk(n, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && !p.Short && strings.Contains(s.Source(p), "'") {
				s.doubt(unknown.QuotesInQuotes, s.Source(p))
			}
			_, sub := n.(*syntax.CmdSubst)
			return !sub
		})
	}
	var literal, quoted []span
	var docs []*syntax.Redirect
	spanOf := func(n syntax.Node) span { return span{int(n.Pos().Offset()), int(n.End().Offset())} }
	quotedText := func(p syntax.WordPart) { // without substitutions in it
		if lit, ok := p.(*syntax.Lit); ok {
			quoted = append(quoted, spanOf(lit))
		}
	}
	test := 0 // inside [[ ]], where patterns do not match files
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
				s.printedCheck(n.Stmts)
			}
		case *syntax.ProcSubst:
			s.printedCheck(n.Stmts)
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				s.endCheck(a)
			}
			for _, word := range n.Args {
				s.endCheck(word)
			}
		case *syntax.DeclClause:
			s.Declarations = append(s.Declarations, n)
			for _, a := range n.Args {
				s.endCheck(a)
			}
		case *syntax.Assign:
			if n.Name != nil && (n.Array != nil || n.Index != nil) {
				s.Arrays = append(s.Arrays, n.Name.Value)
			}
		case *syntax.LetClause:
			s.letCheck(n)
		case *syntax.Redirect:
			s.heredocCheck(n)
			if n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc {
				docs = append(docs, n)
			}
			s.descriptorCheck(n)
			if n.Word != nil {
				s.endCheck(n.Word)
			}
			switch {
			case n.Hdoc == nil:
			case QuotedDelimiter(n.Word):
				literal = append(literal, spanOf(n.Hdoc))
			default:
				for _, p := range n.Hdoc.Parts {
					quotedText(p)
				}
				quotedParam(n.Hdoc)
			}
			if n.Word != nil && strings.HasPrefix(s.Source(n.Word), "!") {
				s.doubt(unknown.ZshRedirection, s.Source(n))
			}
		case *syntax.Stmt:
			if f, is := n.Cmd.(*syntax.FuncDecl); is {
				s.Functions = append(s.Functions, n)
				if f.Name != nil && zshHandler(f.Name.Value) {
					s.doubt(unknown.ZshHandler, f.Name.Value)
				}
				if !compound(f.Body) {
					s.doubt(unknown.FunctionEnd, s.Source(n))
				}
			}
			if at := int(n.Semicolon.Offset()) + 1; n.Background && at < len(s.Text) && s.Text[at] == '!' {
				s.doubt(unknown.ZshBackground, s.Source(n))
			}
		case *syntax.ParamExp:
			s.zshParam(n)
			if n.Index != nil && n.Param != nil { // ${x[1]:=2} and ((x[1]=2)) make one
				s.Arrays = append(s.Arrays, n.Param.Value)
			}
			if yields(n.Exp) {
				s.doubt(unknown.ExtendedPattern, s.Source(n))
			}
			if src := s.Source(n); !n.Short && (strings.Contains(src, "<(") || strings.Contains(src, ">(")) {
				s.doubt(unknown.HiddenSubstitution, src)
			}
		case *syntax.ExtGlob:
			if strings.ContainsAny(n.Pattern.Value, "$`<>(#") { // (#qe:…:) executes if the user has set EXTENDED_GLOB
				s.doubt(unknown.HiddenPattern, s.Source(n))
			}
			if test == 0 {
				s.doubt(unknown.ExtendedPattern, s.Source(n))
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
			s.zshWord(n)
		case *syntax.CoprocClause:
			if !plainCoproc(n) {
				s.doubt(unknown.CoprocName, s.Source(n))
			}
			if n.Name != nil {
				s.Arrays = append(s.Arrays, n.Name.Lit())
			}
		case *syntax.TimeClause:
			if st, ok := WithoutDashes(n.Stmt); !ok {
				s.doubt(unknown.TimeDashes, s.Source(st))
			}
		}
		return true
	}
	for _, st := range s.Stmts {
		syntax.Walk(st, visit)
	}
	s.placeCheck(docs)
	byStart := func(a, b span) int { return a.from - b.from }
	slices.SortFunc(literal, byStart)
	slices.SortFunc(quoted, byStart)
	for _, check := range []func(string, []span, []span) unknown.Reason{hiddenCheck, commentCheck} {
		if reason := check(s.Text, literal, quoted); !reason.None() {
			s.doubt(reason, s.Text)
		}
	}
}

// commentCheck finds comments that end in a backslash: the parser joins the next line to
// them, bash runs it. It reads the text instead of the tree, since the parser keeps only
// some comments.
func commentCheck(text string, literal, quoted []span) unknown.Reason {
	for at := 0; ; {
		i := strings.Index(text[at:], "\\\n")
		if i < 0 {
			return unknown.Reason{}
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

// zshHandler reports whether zsh calls a function of this name by itself (zshmisc(1),
// "Special Functions").
func zshHandler(name string) bool {
	return strings.HasPrefix(name, "TRAP") || strings.HasPrefix(name, "zsh") || slices.Contains([]string{"chpwd", "periodic", "precmd", "preexec", "command_not_found_handler"}, name)
}

// compound reports whether body is a compound command, with which the body of a function
// ends in bash. The parser reads the && b after it as a part of the body.
func compound(body *syntax.Stmt) bool {
	if body == nil { // from a text that does not parse
		return false
	}
	switch body.Cmd.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.ArithmCmd, *syntax.TestClause:
		return !body.Negated && !body.Background
	}
	return false
}

// zshWord records words that only zsh would execute, or read as the end of a block
// (zshoptions(1), IGNORE_CLOSE_BRACES).
func (s *Script) zshWord(word *syntax.Word) {
	src := s.Source(word)
	if len(src) > 1 && src[0] == '=' && texts.IsNameStart(src[1]) {
		s.doubt(unknown.ZshEquals, src)
	}
	if at := int(word.Pos().Offset()); src == "}" && at > 0 && strings.IndexByte(" \t\n", s.Text[at-1]) >= 0 {
		s.doubt(unknown.ZshBrace, src)
	}
}

// endCheck records words that the parser ends in the middle of one word of bash: in $( )
// it reads the # of $x# as a comment.
func (s *Script) endCheck(n syntax.Node) {
	if end := int(n.End().Offset()); end > 0 && end < len(s.Text) && strings.IndexByte(" \t\n;&|()<>`\\", s.Text[end]) < 0 {
		s.doubt(unknown.WordEnd, s.Source(n)+s.Text[end:])
	}
}

// letCheck records operators in a let that bash reads as redirections, lists or patterns
// before let gets its words.
func (s *Script) letCheck(c *syntax.LetClause) {
	for _, x := range c.Exprs {
		if word, ok := x.(*syntax.Word); ok && word.Lit() == "" {
			continue // quoted, or an expansion
		}
		if strings.ContainsAny(s.Source(x), "<>&|();*?[]{}~#\"'$` \t\n\\") {
			s.doubt(unknown.LetOperator, s.Source(c))
			return
		}
	}
}

// descriptorCheck records words after <&- and >&-, which bash reads as a whole while the
// parser reads "-word" as the target.
func (s *Script) descriptorCheck(r *syntax.Redirect) {
	if r.Op != syntax.DplIn && r.Op != syntax.DplOut {
		return
	}
	if src := s.Source(r.Word); strings.HasPrefix(src, "-") && src != "-" {
		s.doubt(unknown.WordAfterClose, s.Source(r))
	}
}

// zshForm reports whether the dollar at offset i begins an expansion only in zsh: $=x,
// $^x, $~x, $+x.
func zshForm(text string, i int) bool {
	after := text[i+1:]
	name := strings.TrimLeft(after, "=^~+")
	begins := after[:len(after)-len(name)]
	slashes := len(text[:i]) - len(strings.TrimRight(text[:i], `\`))
	return (slashes%2 == 0 || strings.Contains(text[:i], "`")) && (strings.Trim(begins, "+") != "" ||
		begins != "" && name != "" && (texts.IsNameByte(name[0]) || strings.IndexByte("{(@*#?!$-", name[0]) >= 0))
}

// zshModifiers are the letters that change a value after a colon, or precede such a letter.
const zshModifiers = "aAcehlpPqQrstux&gfFwW"

// yields reports whether an expansion may yield a text of the line with a bracket in it,
// in which zsh finds a glob qualifier that executes: ${x:-*(e:id:)}.
func yields(e *syntax.Expansion) bool {
	return e != nil && e.Word != nil && e.Op <= syntax.AssignUnsetOrNull && slices.ContainsFunc(e.Word.Parts, func(p syntax.WordPart) bool {
		lit, plain := p.(*syntax.Lit)
		return plain && strings.Contains(lit.Value, "(")
	})
}

// zshParam records an expansion that ends at another place in zsh, or whose name only
// zsh knows.
func (s *Script) zshParam(p *syntax.ParamExp) {
	src, reason := s.Source(p), unknown.Reason{}
	if p.Param == nil || !strings.HasPrefix(src, "$") { // a name in arithmetic
		return
	}
	name, after := p.Param.Value, s.Text[min(int(p.End().Offset()), len(s.Text)):]
	if p.Slice != nil {
		_, after, _ = strings.Cut(src, name)
		after = after[max(strings.IndexByte(after, ':'), 0):]
	}
	next := func(of string) bool { return after != "" && strings.IndexByte(of, after[0]) >= 0 }
	switch {
	case knowledge.IsVariableOf("special", name):
		reason = unknown.ZshVariable
	case (p.Short || p.Slice != nil) && len(after) > 1 && after[0] == ':' && (strings.IndexByte(zshModifiers, after[1]) >= 0 || strings.HasPrefix(after[1:], "\\\n")):
		reason = unknown.ZshModifier
	case !p.Short:
	case next("["), p.Index != nil, strings.HasPrefix(after, "\\\n"), strings.HasSuffix(src, "\\"): // or on the next line
		reason = unknown.ZshSubscript
	case name == "#" && after != "" && (texts.IsNameByte(after[0]) || next("*-?@$")):
		reason = unknown.ZshLength
	case len(name) == 1 && name[0] <= '9' && name[0] >= '0' && next("0123456789"):
		reason = unknown.ZshDigits
	}
	if !reason.None() {
		s.doubt(reason, src)
	}
}
