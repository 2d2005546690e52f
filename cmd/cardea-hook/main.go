// Command cardea-hook is a hook that asks the daemon. If no trusted daemon runs, cardea
// answers instead. It takes the arguments of cardea and gives the same answers. Flags
// without a command are those of "cardea check".
package main

import (
	"os"
)

func main() { os.Exit(run(asCheck(os.Args[1:]))) }

// asCheck returns the arguments, with "check" in front if they begin with a flag of check:
// an error about the missing word would let calls run.
func asCheck(args []string) []string {
	if len(args) == 0 || args[0] == "" || args[0][0] != '-' {
		return args
	}
	switch args[0] {
	case "--help", "-h", "--version", "-v", "-V":
		return args
	}
	return append([]string{"check"}, args...)
}

// exitDeny is the exit code of "cardea check" that blocks a call.
const exitDeny = 2

// blocked reports that the hook cannot answer, and returns the exit code that blocks the call.
func blocked(why string) int {
	_ = write(2, []byte("Cardea: "+why+", so the call is blocked (failure)\n"))
	return exitDeny
}
