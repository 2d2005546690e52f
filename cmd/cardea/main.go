// Command cardea is the hook, and runs what else starts at every call, prompt or redrawn
// line. For commands for people, cardea-engine replaces it, so that a hook does not pay for
// what they need.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/early"
)

// main runs a hook, or a command through cardea-engine.
func main() {
	// A closed pipe must lead to exit code 2, not to a death by signal.
	signal.Ignore(syscall.SIGPIPE)
	args := os.Args[1:]
	p := hook.ThisProcess(hook.ThisProgram())
	p.AllProcessors = early.AllProcessors
	p.Another = hook.ByEngine(p.Program, args)
	code, is := hook.Run(args, p)
	if !is {
		code = hook.BecomeEngine(args, p)
	}
	os.Exit(code)
}
