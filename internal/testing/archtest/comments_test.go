package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wording is a pattern that comments must not match, with what to write instead.
type wording struct {
	pattern *regexp.Regexp
	instead string
}

// wordings reads testdata/comments.txt: a pattern and a hint on each line, with a tab
// between them.
func wordings(t *testing.T) (out []wording) {
	t.Helper()
	data, err := os.ReadFile("testdata/comments.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, instead, found := strings.Cut(line, "\t")
		if !found {
			t.Fatalf("testdata/comments.txt: %q has no tab", line)
		}
		out = append(out, wording{regexp.MustCompile("(?im)" + pattern), instead})
	}
	if len(out) < 10 {
		t.Fatalf("testdata/comments.txt has %d patterns", len(out))
	}
	return out
}

// longFunction is the number of lines from which a function needs a doc comment.
const longFunction = 11

// mistakes returns what is wrong with the comments of a file: wordings to avoid, doc comments
// that do not begin with the name, and functions over ten lines without one.
func mistakes(fset *token.FileSet, f *ast.File, avoid []wording) (out []string) {
	say := func(at token.Pos, format string, args ...any) {
		out = append(out, fmt.Sprintf("%s: %s", fset.Position(at), fmt.Sprintf(format, args...)))
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			for _, w := range avoid {
				if found := w.pattern.FindString(text); found != "" && !strings.HasPrefix(c.Text, "//go:") {
					say(c.Pos(), "%q: write %s", found, w.instead)
				}
			}
		}
	}
	doc := func(at token.Pos, name string, d *ast.CommentGroup) {
		if text := d.Text(); text != "" && !regexp.MustCompile(`^((A|An|The) )?`+regexp.QuoteMeta(name)+`\b`).MatchString(text) {
			say(at, "the doc comment of %s does not begin with its name", name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc(d.Pos(), d.Name.Name, d.Doc)
			if lines := fset.Position(d.End()).Line - fset.Position(d.Pos()).Line; d.Doc == nil && lines > longFunction {
				say(d.Pos(), "%s has more than ten lines and no doc comment", d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, is := s.(*ast.TypeSpec); is {
					if doc(s.Pos(), s.Name.Name, s.Doc); s.Doc == nil && !d.Lparen.IsValid() {
						doc(s.Pos(), s.Name.Name, d.Doc)
					}
				}
			}
		}
	}
	return out
}

// TestCommentsStateContracts checks the comments of all Go files that people write.
func TestCommentsStateContracts(t *testing.T) {
	avoid, seen := wordings(t), 0
	err := filepath.WalkDir("../../..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		seen++
		for _, text := range mistakes(fset, f, avoid) {
			if !strings.HasSuffix(path, "_test.go") || !strings.Contains(text, "doc comment") {
				t.Error(strings.TrimPrefix(text, "../../../"))
			}
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// TestMistakesAreFound plants a comment of each kind.
func TestMistakesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"// x is what it says.\nvar x = 1":                                               "begin with the name",
		"// x says whether it is.\nvar x = 1":                                            "begin with the name",
		"// The rules stand in a file.\nvar x = 1":                                       "is in",
		"var x = 1 // nobody asks":                                                       "name the reader",
		"// returns y.\nfunc x() {}":                                                     "does not begin with its name",
		"// returns y.\ntype x struct{}":                                                 "does not begin with its name",
		"func x() {" + strings.Repeat("\n\tprintln()", 12) + "\n}":                       "no doc comment",
		"// x returns the rules of a file, or an error if it is not there.\nfunc x() {}": "",
		"// The x of a file.\ntype x struct{}":                                           "",
		"func x() {" + strings.Repeat("\n\tprintln()", 9) + "\n}":                        "",
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "x.go", "package p\n\n"+text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		got := mistakes(fset, f, wordings(t))
		if found := slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }); want == "" && len(got) > 0 || want != "" && !found {
			t.Errorf("%s: %q", text, got)
		}
	}
}
