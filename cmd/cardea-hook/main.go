// Command cardea-hook is a hook that asks the daemon, and has cardea answer where there is
// none, or none that can be trusted. It takes the arguments of cardea, and gives the same
// answers. Flags alone are those of "cardea check".
package main

import (
	"os"
)

func main() { os.Exit(run(asCheck(os.Args[1:]))) }

// asCheck returns the arguments with "check" in front where flags of check are given alone:
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

// exitDeny is the exit code that blocks a call, as that of "cardea check".
const exitDeny = 2

// blocked says that the hook cannot answer, which blocks the call.
func blocked(why string) int {
	_ = write(2, []byte("Cardea: "+why+", so the call is blocked (failure)\n"))
	return exitDeny
}
