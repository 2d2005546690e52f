package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"cardea.dev/internal/testing/archtest"
)

// tree is a package with its subpackages, without tests, generated files and packages for
// tests.
type tree struct {
	name                  string
	lines, files          int
	types, methods        int
	largest               string // the type with the most methods
	most                  int
	arrows                []arrow
	order, unlisted       []string
	shortest              []string // the order with few arrows up, independent of doc.go
	documented            bool
	upInOrder, upShortest []arrow
}

// arrow means that a file uses a top-level name or a method that another file declares.
// Names are paths in the tree's package.
type arrow struct{ from, to string }

// listed has the fields that go list prints for a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// readTree measures a tree.
func readTree(root, name string, all []archtest.Package) (*tree, error) {
	t := &tree{name: name}
	wanted := map[string]bool{}
	for _, p := range all {
		if p.ForTests() || p.Path != name && !strings.HasPrefix(p.Path, name+"/") {
			continue
		}
		wanted[p.Path] = true
		for _, f := range p.Files {
			if !f.Generated {
				t.files++
				t.lines += f.CodeLines
			}
		}
	}
	if len(wanted) == 0 {
		return nil, fmt.Errorf("there is no package %s", name)
	}
	packages, err := list(root, name)
	if err != nil {
		return nil, err
	}
	c := checker{tree: t, wanted: wanted, fset: token.NewFileSet(), sources: map[string]*types.Package{}, exports: map[string]string{}}
	for _, p := range packages { // dependencies come first
		c.exports[p.ImportPath] = p.Export
	}
	c.compiled = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(c.exports[path]) })
	for _, p := range packages {
		if wanted[p.ImportPath] {
			if err := c.check(p); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// list runs go list for the packages of a tree and their imports.
func list(root, name string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles", name+"/...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run go list: %w", err)
	}
	var out []listed
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the output of go list: %w", err)
		}
		out = append(out, p)
	}
}

// checker type-checks the packages of a tree.
type checker struct {
	*tree
	wanted   map[string]bool
	fset     *token.FileSet
	sources  map[string]*types.Package
	exports  map[string]string
	compiled types.Importer
}

// Import returns the checked package, or the compiled one outside of the tree.
func (c *checker) Import(path string) (*types.Package, error) {
	if p := c.sources[path]; p != nil {
		return p, nil
	}
	return c.compiled.Import(path)
}

// check adds the figures of a package.
func (c *checker) check(p listed) error {
	var files []*ast.File
	var names []string
	doc := ""
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("read %s: %w", p.ImportPath, err)
		}
		files, names = append(files, f), append(names, path.Join(c.below(p.ImportPath), name))
		doc += f.Doc.Text()
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: c}).Check(p.ImportPath, c.fset, files, info)
	if err != nil {
		return fmt.Errorf("check %s: %w", p.ImportPath, err)
	}
	c.sources[p.ImportPath] = pkg
	c.countTypes(pkg)
	seen, used := map[arrow]bool{}, []arrow(nil)
	for i, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || info.Uses[id] == nil {
				return true
			}
			if to := c.declaredIn(info.Uses[id]); to != "" && to != names[i] && !seen[arrow{names[i], to}] {
				seen[arrow{names[i], to}] = true
				used = append(used, arrow{names[i], to})
			}
			return true
		})
	}
	c.sort(names, used, doc)
	return nil
}

// below returns the path of a package relative to the tree's package.
func (c *checker) below(pkg string) string {
	return strings.TrimPrefix(strings.TrimPrefix(pkg, c.name), "/")
}

// countTypes counts the types and methods of a package.
func (c *checker) countTypes(pkg *types.Package) {
	for _, name := range pkg.Scope().Names() {
		obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		c.types++
		if named, ok := obj.Type().(*types.Named); ok && !obj.IsAlias() {
			c.methods += named.NumMethods()
			if named.NumMethods() > c.most {
				c.most, c.largest = named.NumMethods(), path.Join(c.below(pkg.Path()), name)
			}
		}
	}
}

// declaredIn returns the file of the tree that declares a top-level name or a method, ""
// for another object.
func (c *checker) declaredIn(obj types.Object) string {
	pkg := obj.Pkg()
	if pkg == nil || !c.wanted[pkg.Path()] {
		return ""
	}
	fn, ok := obj.(*types.Func)
	method := ok && fn.Signature().Recv() != nil && !types.IsInterface(fn.Signature().Recv().Type())
	if !method && obj.Parent() != pkg.Scope() {
		return ""
	}
	return path.Join(c.below(pkg.Path()), filepath.Base(c.fset.Position(obj.Pos()).Filename))
}
