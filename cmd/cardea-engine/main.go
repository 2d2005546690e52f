// Command cardea-engine does the work that is too expensive for a hook, for cardea. It runs
// the commands for people, and judges calls whose settings have no compiled form yet. It
// also works as a child of cardea over its standard input and output. It is a separate
// program because OPA, YAML and the library for the command line make the start of every
// process slower (docs/decisions/engine-process.md and hook-process.md). People do not start it; cardea does.
//
// The argument of a child selects the work. "policies" parses, compiles and evaluates
// policies and runs their tests. "fetch" gets the archive with an organisation's settings.
// "judge" asks a language model. "queue" holds a call until a person answers. "near" finds
// lessons by meaning, and "near-vectors" asks a server for their vectors. Any other argument
// is a command of cardea.
package main

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/provider"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/holder"
	"cardea.dev/internal/ask/queue/notice"
	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/cli"
	"cardea.dev/internal/config/fetch"
	"cardea.dev/internal/config/org"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/meaning"
	"cardea.dev/internal/memory/meaning/search"
)

// Most processes answer one call and end within some milliseconds. They do not collect
// garbage until the heap reaches a limit far below the memory limit of a policy. A process
// that lives longer collects as usual.
const (
	shortLife   = time.Second
	shortGrowth = 800 // percent
	shortMemory = 96 << 20
)

// main runs the work that its argument selects, or a command of cardea.
func main() {
	work := ""
	// A command has the name of cardea as program name.
	if len(os.Args) == 2 && strings.HasPrefix(filepath.Base(os.Args[0]), remote.Program) {
		work = os.Args[1]
	}
	var err error
	switch work {
	case org.FetchArgument:
		err = fetch.Serve(os.Stdin, os.Stdout)
	case judge.EngineArgument:
		err = provider.Serve(os.Stdin, os.Stdout, supervisor.Asker)
	case meaning.EngineArgument:
		err = search.Serve(os.Stdin, os.Stdout)
	case meaning.VectorsArgument:
		err = search.ServeVectors(os.Stdin)
	case queue.EngineArgument:
		err = hold()
	case remote.Policies:
		err = policies()
	default:
		// A closed pipe must lead to an exit code, not to a death by signal.
		signal.Ignore(syscall.SIGPIPE)
		p := cli.ThisProcess(hook.ProgramOf(hook.ThisProgram(), os.Args[0]))
		p.Say = notice.ThisDesktop().Say
		os.Exit(cli.Main(os.Args[1:], p))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cardea-engine: %v; cardea starts this program, see docs/policies.md\n", err)
		os.Exit(1)
	}
}

// hold holds a call until a person answers, as long as its hook lives.
func hold() error {
	hook, err := person.Parent()
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		for hook.Alive() {
			time.Sleep(limit.QueueOrphan)
		}
		close(gone)
	}()
	return holder.Serve(os.Stdin, os.Stdout, holder.Caller{Process: hook, Gone: gone}, notice.ThisDesktop().Tell, time.Now)
}

func policies() error {
	usual := debug.SetGCPercent(shortGrowth)
	debug.SetMemoryLimit(shortMemory)
	time.AfterFunc(shortLife, func() {
		debug.SetGCPercent(usual)
		debug.SetMemoryLimit(math.MaxInt64)
	})
	return remote.Serve(rego.Engine{}, os.Stdin, os.Stdout)
}
