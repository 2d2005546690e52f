// Command cardea-engine evaluates policies and runs their tests for cardea,
// which starts it and speaks with it over its standard input and output. It is
// a separate program because every process that links OPA pays for it at its
// start (docs/decisions/0022). People do not start it.
//
// The first argument says which work: "policies" parses, compiles and evaluates
// policies and runs their tests; "fetch" gets the archive with an organisation's
// settings.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/fetch"
	"cardea.dev/internal/org"
)

// Most processes answer one call and end within some milliseconds. They do not
// collect garbage until the heap reaches a bound far below what a policy may
// take. A process that lives longer collects as every program does.
const (
	shortLife   = time.Second
	shortGrowth = 800 // percent
	shortMemory = 96 << 20
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == org.FetchArgument {
		if err := fetch.Serve(os.Stdin, os.Stdout); err != nil {
			exit(1, err)
		}
		return
	}
	if len(os.Args) != 2 || os.Args[1] != remote.Policies {
		exit(2, fmt.Errorf("unknown arguments %q", os.Args[1:]))
	}
	usual := debug.SetGCPercent(shortGrowth)
	debug.SetMemoryLimit(shortMemory)
	time.AfterFunc(shortLife, func() {
		debug.SetGCPercent(usual)
		debug.SetMemoryLimit(math.MaxInt64)
	})
	if err := remote.Serve(rego.Engine{}, os.Stdin, os.Stdout); err != nil {
		exit(1, err)
	}
}

func exit(code int, err error) {
	fmt.Fprintf(os.Stderr, "cardea-engine: %v; cardea starts this program, see docs/policies.md\n", err)
	os.Exit(code)
}
