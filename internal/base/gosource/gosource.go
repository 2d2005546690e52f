// Package gosource formats generated Go so that a change of one entry changes one line.
package gosource

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// maxLine is the number of bytes from which a composite literal gets a line for each element,
// and a string a line for each piece.
const maxLine = 120

// Format returns Go source as gofmt formats it, with one element on a line in long composite
// literals, and with long strings cut after commas, semicolons and bars. It fails if src is
// not a Go file.
func Format(src []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	breaks := map[int]string{} // what to insert, by offset
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if len(n.Elts) == 0 || at(n.End())-at(n.Pos()) <= maxLine || small(n) {
				break
			}
			before := at(n.Lbrace) + 1
			for _, e := range n.Elts {
				if !bytes.ContainsRune(src[before:at(e.Pos())], '\n') {
					breaks[at(e.Pos())] = "\n"
				}
				before = at(e.End())
			}
			switch end := src[before:at(n.Rbrace)]; {
			case bytes.ContainsRune(end, '\n'):
			case len(bytes.TrimSpace(end)) == 0:
				breaks[at(n.Rbrace)] = ",\n"
			default:
				breaks[at(n.Rbrace)] = "\n"
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && len(n.Value) > maxLine && n.Value[0] == '"' {
				cut(breaks, at(n.Pos()), n.Value)
			}
		case *ast.ImportSpec, *ast.Field:
			return false // a tag stays whole
		}
		return true
	})
	var out bytes.Buffer
	last := 0
	for _, p := range slices.Sorted(func(yield func(int) bool) {
		for p := range breaks {
			if !yield(p) {
				return
			}
		}
	}) {
		out.Write(src[last:p])
		out.WriteString(breaks[p])
		last = p
	}
	out.Write(src[last:])
	return format.Source(out.Bytes())
}

// small reports whether a literal has only short numbers, which stay in one block.
func small(c *ast.CompositeLit) bool {
	return !slices.ContainsFunc(c.Elts, func(e ast.Expr) bool {
		lit, is := e.(*ast.BasicLit)
		return !is || lit.Kind == token.STRING
	})
}

// escapes maps the letter of an escape to the number of digits after it.
var escapes = map[byte]int{'x': 2, 'u': 4, 'U': 8, '0': 2, '1': 2, '2': 2, '3': 2}

// cut adds the breaks of a quoted string at an offset. It never cuts an escape.
func cut(breaks map[int]string, offset int, quoted string) {
	begin := 0
	for i := 1; i < len(quoted)-2; i++ {
		if quoted[i] == '\\' {
			i += escapes[quoted[i+1]] + 1
			continue
		}
		if i-begin >= maxLine/2 && strings.IndexByte(",;|)", quoted[i]) >= 0 || i-begin >= maxLine-10 && quoted[i] < 0x80 && quoted[i+1] < 0x80 {
			breaks[offset+i+1] = "\" +\n\""
			begin = i
		}
	}
}
