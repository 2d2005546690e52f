package gosource

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestFormat checks that long literals get a line for each element, and that strings keep
// their values.
func TestFormat(t *testing.T) {
	long := strings.Repeat("a,b;c|d)\\\"é\\n\\u003e\\x1f\\\\", 40)
	src := "package p\n\nvar a = []string{\"" + strings.Repeat("x\", \"", 60) + "\"}\n\nvar b = struct{ A, B string }{A: \"" + long + "\", B: `" + strings.Repeat("y", 200) + "`}\n\n" +
		"var c = []struct{ X []int }{{X: []int{1, 2}}, {X: nil}}\n\nconst d = \"" + long + "\"\n\nconst e = \"" + strings.Repeat("é", 200) + "\"\n"
	out, err := Format([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if len(line) > 2*maxLine && !strings.Contains(line, "yyy") && !strings.Contains(line, "ééé") {
			t.Errorf("a line has %d bytes: %.60s", len(line), line)
		}
	}
	if !strings.Contains(string(out), "\t\"x\",\n\t\"x\",\n") || !strings.Contains(string(out), "{{X: []int{1, 2}}, {X: nil}}") {
		t.Errorf("%s", out)
	}
	if again, err := Format(out); err != nil || string(again) != string(out) {
		t.Error("formatting twice changes the text", err)
	}
	was, is := constants(t, src), constants(t, string(out))
	for name, value := range was {
		if is[name] != value {
			t.Errorf("%s changed: %.80s", name, is[name])
		}
	}
	if len(was) != 2 {
		t.Error(was)
	}
	if _, err := Format([]byte("no Go")); err == nil {
		t.Error("it formats what is not Go")
	}
}

// constants returns the values of the constants of a file.
func constants(t *testing.T, src string) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{}).Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range p.Scope().Names() {
		if c, is := p.Scope().Lookup(name).(*types.Const); is {
			out[name] = constant.StringVal(c.Val())
		}
	}
	return out
}
