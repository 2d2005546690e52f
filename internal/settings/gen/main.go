// Command gen writes the JSON Schemas of settings and rules into the folder
// that is named, for go generate.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"cardea.dev/internal/settings/schema"
)

func main() {
	for name, o := range map[string]schema.Object{"cardea": schema.Settings(), "rules": schema.Rules()} {
		data, err := schema.Bytes(o)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], name+".schema.json"), data, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
