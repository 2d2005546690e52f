package hook

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/memory/ledger"
)

// Process is what a hook has of the process that it runs in. Tests give it
// other ends.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Env looks up a variable as os.Getenv does.
	Env func(string) string
	// Dir is the working folder, absolute, or "" where it cannot be told.
	Dir string
	// Machine answers what the environment alone cannot.
	Machine project.Machine
	// Managed is the folder of Claude Code's managed settings, "" for none.
	Managed string
	// Program is cardea's own file, which hooks and actions are started by.
	Program string
	// Engines compile and evaluate policies, and run their tests.
	Engines policy.Engines
	// Judge gives who asks the judge, by settings and the words of from_env; nil: nobody
	// does.
	Judge func(r judge.Request, fromEnv []string) judge.Asker
	// AsPrompt is set in a process that answers in the place of a harness's prompt.
	AsPrompt bool
	// Queue holds calls back until a person answered; nil: nobody can be asked there.
	Queue queue.Asker
	// Now is the clock.
	Now func() time.Time
	// Harness is the process of the agent that runs the hook.
	Harness func() (person.Running, error)
	// AllProcessors is called before more is done than to judge a short message; nil
	// is for a process that has them all.
	AllProcessors func()
	// Another answers a message for which this program reads too little; nil for one
	// that reads all.
	Another Another
	// Lines are the command lines of the processes above, nil for none.
	Lines func() [][]string
	// Piped reports whether the nth of them reads from what is no terminal; nil: not known.
	Piped func(n int) bool

	// Elsewhere is set in a process that answers for others: it notes why only a process
	// of the caller's own may answer; nil for such a process.
	Elsewhere *Elsewhere
	// StartDaemon starts the daemon if there is none; nil starts nothing. It ends after a
	// time without calls.
	StartDaemon func(env func(string) string, state string, idle time.Duration) error
	// Memory is what such a process keeps between calls; nil: nothing.
	Memory *inforce.Call
	// Group writes the ledger's entries of such a process that come at the same time; nil:
	// each by itself.
	Group *ledger.Group
	// Exported reports whether a variable has a value; nil asks Env.
	Exported func(name string) bool

	// Decided is told what was answered, in a process that counts it; nil for others.
	Decided func(Decision)

	// Drafts are texts that are read in the place of those that files have, by their paths,
	// to see what a change would do; nil: none.
	Drafts map[string][]byte

	// patience is how long a hook may wait for the registration of a session.
	patience time.Duration
	// Given are settings files of the harness that the command was told of.
	Given []string
}

// Widen lets goroutines run at the same time.
func (p Process) Widen() {
	if p.AllProcessors != nil {
		p.AllProcessors()
	}
}

// Warn tells a person something on standard error.
func (p Process) Warn(text string) {
	_, _ = fmt.Fprintf(p.Stderr, "cardea: %s\n", strings.ReplaceAll(PlainText(text), "\n", "\n  "))
}

// block tells the harness on standard error why a call is blocked that cannot be answered.
func (p Process) block(why string) int {
	_, _ = fmt.Fprintln(p.Stderr, harness.Refused("failure", PlainText(why)))
	return ExitDeny
}

// ThisProcess is the process itself. program is the path of cardea, which hooks and
// actions are started by, and beside which cardea-engine is looked for.
func ThisProcess(program string) Process {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // the commands that need it say so
	}
	engines := policy.Engines{Own: remote.Beside(program), Project: remote.Beside(program)}
	return Process{Program: program, Engines: engines, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Dir: dir,
		Machine: project.ThisMachine(os.Getenv), Managed: claudecode.ManagedDir(runtime.GOOS), Now: time.Now,
		StartDaemon: daemonStarter(program), Harness: person.Harness, Lines: person.CommandLines, Piped: person.Piped, Judge: judgeBeside(program),
		Queue: queue.Engine{Find: func() (string, error) { return remote.Find(program) }}}
}

// judgeBeside asks the judge by the cardea-engine that lies beside a program.
func judgeBeside(program string) func(judge.Request, []string) judge.Asker {
	return func(r judge.Request, fromEnv []string) judge.Asker {
		return judge.Engine{Find: func() (string, error) { return remote.Find(program) }, Environ: os.Environ(), Trusted: fromEnv, Request: r}
	}
}

// ThisProgram is the path of the running program.
func ThisProgram() string {
	program, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return program
}
