package knowledge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge"
)

// faces are packages that do not analyze commands. They name harnesses, keys and other
// programs' files.
var faces = []string{"cli", "coldstart", "conformance", "diagnostic", "generate", "importer", "install", "ledger", "permissionfiles", "person", "redact", "settings", "state"}

// TestProgramNamesInGo checks that knowledge of programs is data. The file lists the words in
// Go code that are also names of programs, with a line for each package and reason.
func TestProgramNamesInGo(t *testing.T) {
	const list = "testdata/program-names.txt"
	data, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimSpace(line), ": ", 3)
		if len(fields) != 3 {
			t.Fatalf("%s: %q is not PACKAGE: WORDS: REASON", list, line)
		}
		for word := range strings.FieldsSeq(fields[1]) {
			listed[fields[0]+" "+word] = false
		}
	}
	err = filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(faces, d.Name()) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_gen.go") {
			return err
		}
		room := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../")
		for _, name := range programsIn(t, file, nil) {
			at := room + " " + name
			if _, ok := listed[at]; !ok {
				t.Errorf("%s names the program %s: describe it in packs/commands and act on a property, or say in %s why the name stands here", file, name, list)
			}
			listed[at] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at, found := range listed {
		if !found {
			t.Errorf("%s lists %q, which is not there any more", list, at)
		}
	}
}

func TestProgramsIn(t *testing.T) {
	for code, want := range map[string]bool{
		`p.Program() == "find"`: true,
		`"find" != name`:        true,
		`func() { switch base(p.Argv) { case "x", "find": } }`:       true,
		`slices.Contains([]string{"git", "find"}, x)`:                true,
		`map[string]bool{"find": true}`:                              true,
		`isProgram("find")`:                                          true,
		`strings.HasPrefix(name, "find")`:                            true,
		`knowledge.Holder{"find"}`:                                   true,
		`o.Name == "find"`:                                           false, // an option
		`action == "find"`:                                           false,
		`func() { switch key { case "find": } }`:                     false,
		`cardea.Part{Text: "find"}`:                                  false,
		`m.Get("find")`:                                              false,
		`strings.Contains(name, "find")`:                             false,
		`map[string]any{"find": 1}`:                                  false,
		`in["find"]`:                                                 false,
		`struct{ A int "find" }{}`:                                   false,
		`p.Program() == "no program has this name"`:                  false,
		`func() { switch { case word == "a", program == "find": } }`: true,
	} {
		if got := programsIn(t, "x.go", "package x\nvar _ = "+code); (len(got) > 0) != want {
			t.Errorf("%s: found %v", code, got)
		}
	}
}

var (
	// A value with such a name may be the name of a program.
	programLike = regexp.MustCompile(`(?i)\b(\w*program|command|argv|args|name|base|shell|\w*wrappers?|words)\b`)
	// A value with such a name is something else.
	otherName = regexp.MustCompile(`^(o|a|f|d|it|info)\.Name$`)
	// These functions take keys of documents, pieces of paths and of words.
	takesNoProgram = []string{"Get", "Need", "Str", "Word", "Know", "Join", "Contains", "ContainsAny", "HasSuffix", "TrimSuffix", "ReplaceAll", "NewReplacer", "say"}
)

// programsIn returns the names of programs in a file that may mean a program: compared
// with a program's name, in a list, or passed to a function.
func programsIn(t *testing.T, file string, src any) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	known := knowledge.ProgramNames()
	var found []string
	note := func(list ...ast.Expr) {
		for _, e := range list {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Key
			}
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && (slices.Contains(known, text) || knowledge.WrapperOf(text) != nil) {
					found = append(found, text)
				}
			}
		}
	}
	program := func(e ast.Expr) bool {
		text := types.ExprString(e)
		return programLike.MatchString(text) && !otherName.MatchString(text)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if program(n.X) || program(n.Y) {
				note(n.X, n.Y)
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				if n.Tag != nil && program(n.Tag) {
					note(c.(*ast.CaseClause).List...)
				}
			}
		case *ast.CompositeLit:
			if n.Type == nil || !strings.HasPrefix(types.ExprString(n.Type), "map[string]any") {
				note(n.Elts...)
			}
		case *ast.ValueSpec:
			note(n.Values...)
		case *ast.CallExpr:
			called := types.ExprString(n.Fun)
			if !slices.Contains(takesNoProgram, called[strings.LastIndexByte(called, '.')+1:]) {
				note(n.Args...)
			}
		}
		return true
	})
	return found
}
