// Command cardea-policy-test runs the tests of policies for "cardea policy test",
// which starts it and speaks with it over its standard input and output. It is a
// program of its own since OPA's tester would cost cardea-policy, which hooks
// start, at every start (docs/decisions/0022). There is nothing that a person
// could do with it.
package main

import (
	"fmt"
	"os"

	"cardea.dev/internal/decide/policy/regotest"
	"cardea.dev/internal/decide/policy/remote"
)

func main() {
	if err := remote.Serve(regotest.Engine{}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "cardea-policy-test: %v; it is started by cardea, see docs/policies.md\n", err)
		os.Exit(1)
	}
}
