package bash

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reasons are the reasons of opaque spots, read from the package's source: the
// text that is handed to what records a spot. Of a text that is put together
// the first piece is given.
func reasons(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	constants, found := map[string]string{}, map[string]bool{}
	var trees []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, f)
	}
	var text func(x ast.Expr) string
	text = func(x ast.Expr) string {
		switch x := x.(type) {
		case *ast.BasicLit:
			s, _ := strconv.Unquote(x.Value)
			return s
		case *ast.BinaryExpr:
			return text(x.X)
		case *ast.Ident:
			return constants[x.Name]
		}
		return ""
	}
	note := func(s string) {
		if strings.Contains(s, " ") {
			found[s] = true
		}
	}
	each := func(visit func(n ast.Node) bool) {
		for _, f := range trees {
			ast.Inspect(f, visit)
		}
	}
	each(func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 {
			constants[v.Names[0].Name] = text(v.Values[0])
		}
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name == "reason" {
				note(text(a.Rhs[0]))
			}
		}
		return true
	})
	each(func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch fn := n.Fun.(type) {
			case *ast.SelectorExpr:
				name = fn.Sel.Name
			case *ast.Ident:
				name = fn.Name
			}
			if len(n.Args) > 0 && slices.Contains([]string{"spot", "opaqueLine", "limit", "taint", "fail"}, name) {
				note(text(n.Args[len(n.Args)-1]))
			}
		case *ast.FuncDecl:
			if slices.Contains([]string{"rawCheck", "hiddenCheck", "hiddenRune", "commentCheck"}, n.Name.Name) {
				ast.Inspect(n, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
						note(text(r.Results[0]))
					}
					return true
				})
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && (id.Name == "Reason" || id.Name == "opaque") {
				note(text(n.Value))
				if m, ok := n.Value.(*ast.CompositeLit); ok {
					for _, e := range m.Elts {
						note(text(e.(*ast.KeyValueExpr).Value))
					}
				}
			}
		}
		return true
	})
	var out []string
	for s := range found {
		out = append(out, s)
	}
	slices.Sort(out)
	if len(out) < 60 {
		t.Fatalf("only %d reasons were found", len(out))
	}
	return out
}

// docs/analysis.md lists every reason for which a spot is opaque, and no other.
func TestReasonsAreDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "analysis.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "## Opaque by decision\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, " | ")
		if len(cells) == 3 && !strings.HasPrefix(line, "| reason") {
			listed[strings.TrimPrefix(cells[0], "| ")] = true
		}
	}
	for _, reason := range reasons(t) {
		reason = strings.ReplaceAll(strings.TrimSpace(reason), "|", "\\|")
		if !listed[reason] {
			t.Errorf("docs/analysis.md does not list: %s", reason)
		}
		delete(listed, reason)
	}
	for reason := range listed {
		t.Errorf("docs/analysis.md lists what no spot says: %s", reason)
	}
}
