package grammar

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/texts"
)

// plainCoproc reports whether the parser reads a coproc as bash does.
func plainCoproc(c *syntax.CoprocClause) bool {
	switch cmd := c.Stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return c.Name == nil && len(cmd.Assigns) == 0 && len(c.Stmt.Redirs) == 0 && !(len(cmd.Args) > 0 && suspiciousFirst(cmd.Args[0]))
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return c.Name == nil || texts.PlainName(c.Name.Lit())
	}
	return false
}

// suspiciousFirst reports whether bash does not read a word as a command's name although
// the parser does: an assignment, a reserved word.
func suspiciousFirst(word *syntax.Word) bool {
	lit, ok := word.Parts[0].(*syntax.Lit)
	return ok && (strings.Contains(lit.Value, "=") || Reserved(word.Lit()))
}

// Reserved reports whether a word in the place of a command is a reserved word of the shell.
func Reserved(word string) bool {
	return slices.Contains([]string{"!", "{", "}", "[[", "]]", "((", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
		"select", "function", "time", "coproc"}, word)
}

// IsPipe reports whether an operator is | or |&.
func IsPipe(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }

// WithoutDashes returns a timed pipeline without the "--" before its first command: bash
// reads "time --" and "time -p --" as the end of time's options. ok is false if bash
// reads the statement in another way.
func WithoutDashes(st *syntax.Stmt) (out *syntax.Stmt, ok bool) {
	if st == nil {
		return nil, true
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		left, ok := WithoutDashes(cmd.X)
		if left != cmd.X && ok {
			stripped, binary := *st, *cmd
			binary.X, stripped.Cmd = left, &binary
			return &stripped, true
		}
		return st, ok
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 || len(cmd.Args) == 0 || cmd.Args[0].Lit() != "--" {
			return st, true
		}
		if len(cmd.Args) == 1 || suspiciousFirst(cmd.Args[1]) || len(st.Redirs) > 0 && st.Redirs[0].Pos().Offset() < cmd.Pos().Offset() {
			return st, false
		}
		stripped := *st
		stripped.Cmd = &syntax.CallExpr{Args: cmd.Args[1:]}
		return &stripped, true
	}
	return st, true
}

// FilePredicate reports whether text is an operator of test that tests a file: -e, -nt.
func FilePredicate(text string) bool {
	other := []string{"-n", "-z", "-a", "-o", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}
	return len(text) > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9') && !slices.Contains(other, text)
}

// has reports whether is holds for a node or one below it.
func has(n syntax.Node, is func(syntax.Node) bool) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		found = found || is(n)
		return !found
	})
	return found
}

// TestsFile reports whether a test tests a file.
func TestsFile(x syntax.TestExpr) bool {
	return has(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.UnaryTest:
			return n.Op != syntax.TsNot && n.Op != syntax.TsEmpStr && n.Op != syntax.TsNempStr
		case *syntax.BinaryTest:
			return n.Op == syntax.TsNewer || n.Op == syntax.TsOlder || n.Op == syntax.TsDevIno
		}
		return false
	})
}

// PrintsLines reports whether only the output of a command goes into a pipe, unchanged.
func PrintsLines(st *syntax.Stmt, op syntax.BinCmdOperator) bool {
	if _, ok := st.Cmd.(*syntax.CallExpr); !ok || op != syntax.Pipe {
		return false
	}
	return !slices.ContainsFunc(st.Redirs, func(r *syntax.Redirect) bool {
		return r.N == nil || r.N.Value != "2" || r.Op != syntax.RdrOut && r.Op != syntax.AppOut
	})
}

// IsProcSubst reports whether a word is one process substitution and nothing else.
func IsProcSubst(word *syntax.Word) bool {
	_, ok := Only[*syntax.ProcSubst](word)
	return ok
}

// Expands reports whether a word has a substitution or a parameter.
func Expands(word *syntax.Word) bool {
	return has(word, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ParamExp, *syntax.ProcSubst:
			return true
		}
		return false
	})
}

// HasBraces reports whether a word has braces that bash may expand.
func HasBraces(word *syntax.Word) bool {
	return word != nil && slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	})
}

// ManyFields reports whether an expansion yields several fields even in quotes.
func ManyFields(p *syntax.ParamExp) bool {
	if p.Param != nil && p.Param.Value == "@" {
		return true
	}
	if word, ok := p.Index.(*syntax.Word); ok && word.Lit() == "@" {
		return true
	}
	return p.Names != 0
}

// ListsKeys reports whether p is ${!a[@]}, which lists the indexes of an array.
func ListsKeys(p *syntax.ParamExp) bool {
	word, ok := p.Index.(*syntax.Word)
	return ok && (word.Lit() == "@" || word.Lit() == "*") && p.Exp == nil && p.Repl == nil && p.Slice == nil
}

// PrintsValues reports whether a declaration prints values, including those of the
// environment, instead of setting them.
func PrintsValues(c *syntax.DeclClause) bool {
	names := false
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil && strings.Contains(a.Value.Lit(), "p") && strings.HasPrefix(a.Value.Lit(), "-") {
			return true
		}
		names = names || a.Name != nil
	}
	return !names
}

// SubstitutionSign returns the brackets of a command substitution: "$( )" or "` `".
func SubstitutionSign(p *syntax.CmdSubst) string {
	if p.Backquotes {
		return "` `"
	}
	return "$( )"
}

// CountCommands returns the number of simple commands in statements.
func CountCommands(list []*syntax.Stmt) int {
	n := 0
	for _, st := range list {
		syntax.Walk(st, func(node syntax.Node) bool {
			if _, is := node.(*syntax.CallExpr); is {
				n++
			}
			return true
		})
	}
	return n
}

// RunsFirst returns the declarations directly in the block of a function's body: they
// run unless the function is left before.
func RunsFirst(body *syntax.Stmt) (out []*syntax.DeclClause) {
	block, is := body.Cmd.(*syntax.Block)
	if !is {
		return nil
	}
	for _, st := range block.Stmts {
		if c, is := st.Cmd.(*syntax.DeclClause); is && !st.Background {
			out = append(out, c)
		}
	}
	return out
}
