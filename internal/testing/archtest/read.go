package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the module.
const Module = "cardea.dev"

// Package is one folder of Go files, without its _test.go files.
type Package struct {
	// Path is the import path.
	Path string
	// Imports are the import paths in use, sorted.
	Imports []string
	Files   []File
}

// File is one Go file.
type File struct {
	Name string
	AST  *ast.File
	// Lines are all lines. CodeLines are those with more than a comment.
	Lines, CodeLines int
	Generated        bool
	positions        *token.FileSet
}

// Read reads all packages of the module in a folder, sorted by path. It skips folders
// named testdata, hidden folders and other modules.
func Read(root string) ([]Package, error) {
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, err
	}
	byPath := map[string]*Package{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(root, file)
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		at := path.Join(Module, filepath.ToSlash(dir))
		if byPath[at] == nil {
			byPath[at] = &Package{Path: at}
		}
		return byPath[at].add(file)
	})
	if err != nil {
		return nil, err
	}
	var out []Package
	for _, p := range byPath {
		slices.Sort(p.Imports)
		p.Imports = slices.Compact(p.Imports)
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// skipFolder returns fs.SkipDir for a folder whose files are not part of the module, else nil.
func skipFolder(root, dir string) error {
	if dir == root {
		return nil
	}
	if name := filepath.Base(dir); name == "testdata" || strings.HasPrefix(name, ".") {
		return fs.SkipDir
	}
	// Another module has its own laws: nothing here can import it.
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// add parses a file of the package.
func (p *Package) add(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, data, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, i := range tree.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		p.Imports = append(p.Imports, name)
	}
	p.Files = append(p.Files, File{
		Name: filepath.Base(file), AST: tree, positions: fset,
		Lines: strings.Count(string(data), "\n"), CodeLines: countCode(data), Generated: ast.IsGenerated(tree),
	})
	return nil
}

// countCode returns the number of lines with a token other than a comment. All lines of
// a text between backquotes are included.
func countCode(data []byte) int {
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(data))
	s.Init(file, data, nil, 0)
	lines, last := 0, 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // inserted by the scanner
		}
		first := file.Line(pos)
		end := first + strings.Count(text, "\n")
		lines += max(0, end-max(first-1, last))
		last = max(last, end)
	}
}

// ForTests reports whether the package is not part of the product. Such a package
// imports testing, like a conformance suite, or is this package, the generator of lines,
// or one of scripts/.
func (p Package) ForTests() bool {
	return slices.Contains(p.Imports, "testing") || p.Path == Module+"/internal/command/bash/generate" || below(p.Path, Module+"/internal/testing/archtest") || below(p.Path, Module+"/scripts")
}

// Imported returns the packages of the module that the package imports, as paths below
// the module. The root package is "cardea".
func (p Package) Imported() []string {
	var out []string
	for _, i := range p.Imports {
		if below(i, Module) {
			out = append(out, shorten(i))
		}
	}
	return out
}

// Dir returns the path below the module. The root package is "cardea".
func (p Package) Dir() string { return shorten(p.Path) }

func shorten(importPath string) string {
	if importPath == Module {
		return "cardea"
	}
	return strings.TrimPrefix(importPath, Module+"/")
}

// below reports whether an import path is folder or a package below it.
func below(importPath, folder string) bool {
	return importPath == folder || strings.HasPrefix(importPath, folder+"/")
}

// Function is a function or method with its length in lines, from func to the
// closing brace.
type Function struct {
	Name, File string
	Lines      int
}

// Functions returns the functions in files that are not generated.
func (p Package) Functions() []Function {
	var out []Function
	for _, f := range p.Files {
		if f.Generated {
			continue
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				name = receiver(fn.Recv) + "." + name
			}
			lines := f.positions.Position(fn.End()).Line - f.positions.Position(fn.Pos()).Line + 1
			out = append(out, Function{Name: name, File: path.Join(p.Dir(), f.Name), Lines: lines})
		}
	}
	return out
}

// receiver returns the name of a method's receiver type.
func receiver(list *ast.FieldList) string {
	e := list.List[0].Type
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// Exported returns the exported names of the package: types, functions, methods of
// exported types, constants and variables.
func (p Package) Exported() []string {
	var out []string
	for _, f := range p.Files {
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch {
				case !d.Name.IsExported():
				case d.Recv == nil:
					out = append(out, d.Name.Name)
				case ast.IsExported(receiver(d.Recv)):
					out = append(out, receiver(d.Recv)+"."+d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					out = append(out, exportedSpec(s)...)
				}
			}
		}
	}
	return out
}

// exportedSpec returns the exported names of one type, constant or variable specification.
func exportedSpec(s ast.Spec) []string {
	var out []string
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			out = append(out, s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				out = append(out, n.Name)
			}
		}
	}
	return out
}

// SettingsKeys returns the number of keys of cardea.yaml in the tables of type []Key.
func SettingsKeys(pkgs []Package) (keys int) {
	for _, p := range pkgs {
		if p.Path != Module+"/internal/config/settings" {
			continue
		}
		for _, f := range p.Files {
			ast.Inspect(f.AST, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				list, ok := lit.Type.(*ast.ArrayType)
				if !ok {
					return true
				}
				if name, ok := list.Elt.(*ast.Ident); !ok || name.Name != "Key" {
					return true
				}
				keys += len(lit.Elts)
				return true
			})
		}
	}
	return keys
}
