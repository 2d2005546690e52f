package archtest

import (
	"fmt"
	"go/ast"
	"os/exec"
	"strings"
	"testing"
)

// TestOnlyStateOpensFiles checks that only internal/base/state opens files and folders,
// without waiting. Any user may have created what the hook opens: a pipe in the place of
// a file would block it.
func TestOnlyStateOpensFiles(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/cardea").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for _, pkg := range strings.Fields(string(out)) {
		linked[pkg] = pkg != internal("base/state")
	}
	for _, p := range tree(t) {
		found := opens(p)
		if p.Path == internal("base/state") && len(found) == 0 {
			t.Error("the test does not see what internal/base/state opens")
		}
		if linked[p.Path] {
			for _, v := range found {
				t.Error(v)
			}
		}
	}
}

// mayOpen are the files whose opens cannot wait, with the reason.
var mayOpen = map[string]string{
	"internal/base/person/ancestors.go": "/proc holds no pipes",
}

// opens returns the places where a package opens files itself.
func opens(p Package) []string {
	var out []string
	for _, f := range p.Files {
		name := p.Dir() + "/" + f.Name
		if mayOpen[name] != "" {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if pkg, plain := selected(fun); !ok || !plain || pkg != "os" {
				return true
			}
			switch fun.Sel.Name {
			case "Open", "ReadFile", "ReadDir", "DirFS", "WriteFile", "Create":
			case "OpenFile":
				// A file that must not exist yet is not a pipe, and the null device never waits.
				if mentions(call, "O_EXCL") || mentions(call, "DevNull") {
					return true
				}
			default:
				return true
			}
			out = append(out, fmt.Sprintf("%s calls os.%s, which may wait for a pipe; use internal/base/state", name, fun.Sel.Name))
			return true
		})
	}
	return out
}

// selected returns the name of the package with which a selector begins.
func selected(s *ast.SelectorExpr) (pkg string, ok bool) {
	if s == nil {
		return "", false
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// mentions reports whether an argument of a call has a selector with this name.
func mentions(call *ast.CallExpr, name string) bool {
	found := false
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			found = found || ok && s.Sel.Name == name
			return true
		})
	}
	return found
}
