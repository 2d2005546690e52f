package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cardea.dev/internal/testing/archtest"
)

// TestTree measures a small module: three files in the order of the package's comment, one
// arrow up, one subpackage.
func TestTree(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module cardea.dev\n\ngo 1.25\n",
		"x/doc.go":     "// Package x is small; see b.go.\n//\n//\ta.go   first\n//\tb.go   second\npackage x\n",
		"x/a.go":       "package x\n\nimport \"cardea.dev/x/v\"\n\nfunc top(t v.T) int { return t.Low() + bottom() }\n\nconst limit = 3\n",
		"x/b.go":       "package x\n\nfunc bottom() int { return limit + more() }\n",
		"x/more.go":    "package x\n\nfunc more() int { return 1 }\n",
		"x/v/v.go":     "// Package v has a type.\npackage v\n\ntype T struct{}\n\nfunc (T) Low() int { return 1 }\n",
		"x/a_test.go":  "package x\n\nvar _ = top\n",
		"other/oth.go": "package other\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pkgs, err := archtest.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	x, err := readTree(root, "cardea.dev/x", pkgs)
	if err != nil {
		t.Fatal(err)
	}
	arrows := []arrow{{"a.go", "v/v.go"}, {"a.go", "b.go"}, {"b.go", "a.go"}, {"b.go", "more.go"}}
	if !slices.Equal(x.arrows, arrows) || !slices.Equal(x.upInOrder, []arrow{{"b.go", "a.go"}}) || len(x.upShortest) != 1 {
		t.Errorf("%+v", x)
	}
	if x.files != 5 || x.types != 1 || x.methods != 1 || x.largest != "v/T" || !slices.Equal(x.unlisted, []string{"more.go"}) {
		t.Errorf("%+v", x)
	}
	if _, err := readTree(root, "cardea.dev/none", pkgs); err == nil {
		t.Error("there is no such package")
	}
}

// A cycle of three files has one arrow up in the best order. A chain of files has none.
func TestOrdered(t *testing.T) {
	files := []string{"a", "b", "c", "d"}
	line := []arrow{{"d", "b"}, {"b", "a"}, {"a", "c"}}
	if order := ordered(files, line); len(up(order, line)) > 0 {
		t.Error(order)
	}
	ring := append(line, arrow{"c", "d"})
	if order := improve(ordered(files, ring), ring, nil); len(up(order, ring)) != 1 {
		t.Error(order)
	}
}
