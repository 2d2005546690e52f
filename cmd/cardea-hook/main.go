// Command cardea-hook is a hook that asks the daemon, and has cardea answer where there is
// none, or none that can be trusted. It takes the arguments of cardea, and gives the same
// answers.
package main

import (
	"os"
)

func main() { os.Exit(run(os.Args[1:])) }

// exitDeny is the exit code that blocks a call, as that of "cardea check".
const exitDeny = 2

// blocked says that the hook cannot answer, which blocks the call.
func blocked(why string) int {
	_ = write(2, []byte("Cardea: "+why+", so the call is blocked (failure)\n"))
	return exitDeny
}
