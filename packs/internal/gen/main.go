// Command gen turns the packs' YAML into table.go, a table of literals that
// the linker lays out: a hook process must not spend its time on reading YAML.
// It runs in the folder of the packs, by go generate.
package main

import (
	"fmt"
	"os"

	"cardea.dev/packs/internal/table"
)

func main() {
	source, err := table.Source(".")
	if err == nil {
		err = os.WriteFile("table.go", source, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
