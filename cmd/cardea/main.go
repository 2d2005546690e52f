// Command cardea is the hook, and what else runs at every call, prompt or redrawn line.
// The commands for people are carried out by cardea-engine, which takes its place: a hook
// must not pay for what these need.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/early"
)

func main() {
	// A harness that closed its end of the pipe must get exit code 2, not a
	// process that died by a signal.
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
