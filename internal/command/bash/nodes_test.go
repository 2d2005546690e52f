package bash

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/generate"
)

// nodeCounts counts the nodes of the parser's trees by type name. The name of an
// operator follows its type.
type nodeCounts map[string]int

// add counts the nodes of a line. It returns false if the parser cannot read it.
func (c nodeCounts) add(line string) bool {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	var words []*syntax.Word
	syntax.Walk(f, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok {
			words = append(words, word)
		}
		return true
	})
	for _, word := range words { // a split word cannot be walked any more
		syntax.SplitBraces(word)
	}
	c.value(reflect.ValueOf(f))
	return true
}

func (c nodeCounts) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			c.value(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Struct:
		if v.Type().Name() == "Pos" {
			return
		}
		c[v.Type().Name()]++
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.value(v.Field(i))
			}
		}
	case reflect.Uint32, reflect.Uint8:
		if op, ok := v.Interface().(fmt.Stringer); ok && v.Uint() != 0 {
			c[v.Type().Name()+" "+op.String()]++
		}
	}
}

// list writes the counts in order.
func (c nodeCounts) list() string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s\t%d\n", name, c[name])
	}
	return b.String()
}

// otherShells returns the node types that bash's grammar cannot yield: expansion flags
// of zsh, and the tests of Bats.
func otherShells() []string { return []string{"FlagsArithm", "TestDecl"} }

// nodeTypes returns the parser's node types, read from its source: the types with a position.
func nodeTypes(t *testing.T) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "mvdan.cc/sh/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "syntax", "nodes.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || fn.Name.Name != "Pos" {
			continue
		}
		if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
			name := star.X.(*ast.Ident).Name
			if !slices.Contains(otherShells(), name) {
				out = append(out, name)
			}
		}
	}
	if len(out) < 35 {
		t.Fatalf("only %d node types were found: %q", len(out), out)
	}
	return out
}

// TestGeneratorWritesEveryNode checks that the generator writes every type of node of bash's
// grammar, as often as the documented run needs it: a hundred times in 200 000 lines.
func TestGeneratorWritesEveryNode(t *testing.T) {
	const lines = 20000
	g, counts, wrong := generate.New(1), nodeCounts{}, 0
	for range lines {
		line, _ := g.Line()
		if !counts.add(line) {
			if wrong++; wrong <= 10 {
				t.Logf("no bash: %q", line)
			}
		}
	}
	t.Logf("the parser does not read %d of %d lines", wrong, lines)
	if wrong*100 > lines {
		t.Errorf("%d of %d lines are no bash to the parser", wrong, lines)
	}
	for _, name := range nodeTypes(t) {
		if counts[name] < 100*lines/200000 {
			t.Errorf("%s: %d times in %d lines", name, counts[name], lines)
		}
	}
	t.Logf("\n%s", counts.list())
}
