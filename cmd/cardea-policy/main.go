// Command cardea-policy parses, compiles and evaluates policies for cardea,
// which starts it and speaks with it over its standard input and output. It is a
// program of its own since every process that links OPA pays for it
// (docs/decisions/0022). There is nothing that a person could do with it.
package main

import (
	"fmt"
	"os"

	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/decide/policy/remote"
)

func main() {
	if err := remote.Serve(rego.Engine{}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "cardea-policy: %v; it is started by cardea, see docs/policies.md\n", err)
		os.Exit(1)
	}
}
