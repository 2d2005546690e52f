// Command cardea is the hook, and the commands for people. All of it is in
// internal/cli.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"cardea.dev/internal/cli"
	"cardea.dev/internal/early"
)

func main() {
	// A harness that closed its end of the pipe must get exit code 2, not a
	// process that died by a signal.
	signal.Ignore(syscall.SIGPIPE)
	p := cli.ThisProcess()
	p.AllProcessors = early.AllProcessors
	os.Exit(cli.Main(os.Args[1:], p))
}
