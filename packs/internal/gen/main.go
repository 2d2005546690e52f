// Command gen converts the packs' YAML to table.go and roletable.go, tables of literals
// that the linker lays out, so that a hook process need not read YAML. It also writes the
// pages docs/packs and docs/policies. Run it in the folder of the packs, by go generate.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cardea.dev/packs/internal/table"
)

func main() {
	docs := filepath.Join("..", "docs")
	err := errors.Join(program(), pages(filepath.Join(docs, "packs"), table.Pages), pages(filepath.Join(docs, "policies"), table.PolicyPages))
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// program writes table.go and roletable.go.
func program() error {
	source, err := table.Source(".")
	if err != nil {
		return err
	}
	if err := os.WriteFile("table.go", source, 0o644); err != nil {
		return err
	}
	if source, err = table.RoleSource("."); err != nil {
		return err
	}
	return os.WriteFile("roletable.go", source, 0o644)
}

// pages writes all pages, and removes those that are no longer made.
func pages(dir string, made func(dir string) (map[string]string, error)) error {
	all, err := made(".")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if _, there := all[filepath.Base(f)]; !there {
			err = errors.Join(err, os.Remove(f))
		}
	}
	for name, text := range all {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return err
}
