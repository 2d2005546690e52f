// Command gen writes the JSON Schemas of settings and rules, and the table of keys in
// settings.md, into the documentation folder in its argument. go generate runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"cardea.dev/internal/config/settings/schema"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write generates the files in the documentation folder docs.
func write(docs string) error {
	for name, o := range map[string]schema.Object{"cardea": schema.Settings(), "rules": schema.Rules()} {
		data, err := schema.Bytes(o)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(docs, "schema", name+".schema.json"), data, 0o644); err != nil {
			return err
		}
	}
	path := filepath.Join(docs, "settings.md")
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := schema.Page(string(old))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(page), 0o644)
}
