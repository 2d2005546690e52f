package knowledge_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardea.dev/internal/knowledge"
)

var update = flag.Bool("update", false, "write testdata/program-names.txt")

// What is known of programs is data. The file lists the program names that still
// stand in Go, most of them in readers of script languages. No name is added.
func TestProgramNamesInGo(t *testing.T) {
	const file = "testdata/program-names.txt"
	known := knowledge.ProgramNames()
	var found []string
	for _, room := range []string{"bash", "call", "config", "decide/permissions", "decide/readonly", "decide/rules", "evidence", "knowledge", "permissionlist", "project"} {
		if _, err := os.Stat(filepath.Join("..", room)); err != nil {
			continue
		}
		err := filepath.WalkDir(filepath.Join("..", room), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_gen.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if _, ok := n.(*ast.ImportSpec); ok {
					return false
				}
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && (slices.Contains(known, text) || knowledge.WrapperOf(text) != nil) {
						found = append(found, text)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(found, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, f := range found {
		if !slices.Contains(listed, f) {
			t.Errorf("%s is named in Go: describe it in packs/commands, and act on a property", f)
		}
	}
}
