// Command cardea-policy parses, compiles and evaluates policies for cardea,
// which starts it and speaks with it over its standard input and output. It is a
// program of its own since every process that links OPA pays for it
// (docs/decisions/0022). There is nothing that a person could do with it.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/decide/policy/remote"
)

// Most processes answer one call and end within some milliseconds: garbage that
// nobody would collect in time is left, up to a bound far below what a policy may
// take. One that lives on collects as every program does.
const (
	brief       = time.Second
	briefGrowth = 800 // percent
	briefMemory = 96 << 20
)

func main() {
	usual := debug.SetGCPercent(briefGrowth)
	debug.SetMemoryLimit(briefMemory)
	time.AfterFunc(brief, func() {
		debug.SetGCPercent(usual)
		debug.SetMemoryLimit(math.MaxInt64)
	})
	if err := remote.Serve(rego.Engine{}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "cardea-policy: %v; it is started by cardea, see docs/policies.md\n", err)
		os.Exit(1)
	}
}
