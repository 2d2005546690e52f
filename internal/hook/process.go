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

// Process holds a hook's view of its process: streams, environment, folders and helpers.
// Tests replace them.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Env looks up a variable as os.Getenv does.
	Env func(string) string
	// Dir is the working folder, absolute, or "" if it is unknown.
	Dir string
	// Machine answers questions that the environment alone cannot answer.
	Machine project.Machine
	// Managed is the folder of Claude Code's managed settings, "" for none.
	Managed string
	// Program is the path of cardea, which starts hooks and actions.
	Program string
	// Engines compile and evaluate policies, and run their tests.
	Engines policy.Engines
	// Judge returns the asker for a judge request and the words of the setting from_env. If it
	// is nil, no judge is asked.
	Judge func(r judge.Request, fromEnv []string) judge.Asker
	// AsPrompt is set in a process that answers instead of the harness's prompt.
	AsPrompt bool
	// Queue holds calls until a person answers. If it is nil, no person can be asked there.
	Queue queue.Asker
	// Now returns the current time.
	Now func() time.Time
	// Harness returns the process of the agent that runs the hook.
	Harness func() (person.Running, error)
	// AllProcessors is called before more work than judging a short message. It is nil in a
	// process that already uses all processors.
	AllProcessors func()
	// Another lets another program answer a message that this one cannot read. It is nil in
	// the program that reads everything.
	Another Another
	// Lines returns the command lines of the parent processes. It may be nil.
	Lines func() [][]string
	// Piped reports whether the standard input of the nth parent process is something other
	// than a terminal. If it is nil, that is unknown.
	Piped func(n int) bool

	// Handover is set in a process that answers for others. It records why only a process of
	// the caller's own may answer, and is nil in such a process.
	Handover *Handover
	// StartDaemon starts the daemon if none runs. The daemon ends after idle without calls. If
	// it is nil, no daemon is started.
	StartDaemon func(env func(string) string, state string, idle time.Duration) error
	// Memory is the cache that the daemon keeps between calls, or nil.
	Memory *inforce.CallMemory
	// Group writes ledger entries of the daemon that arrive at the same time together. If it
	// is nil, each is written alone.
	Group *ledger.Group
	// Exported reports whether a variable has a value. If it is nil, Env is used.
	Exported func(name string) bool

	// Decided receives each decision, for the daemon's metrics. It may be nil.
	Decided func(Decision)

	// Drafts maps paths to texts that are read instead of the files, to show what a change
	// would do. It may be nil.
	Drafts map[string][]byte

	// patience is the longest time that a hook waits for the registration of a session.
	patience time.Duration
	// Given are the harness's settings files that the command line names.
	Given []string
}

// Widen lets goroutines run at the same time.
func (p Process) Widen() {
	if p.AllProcessors != nil {
		p.AllProcessors()
	}
}

// Warn writes a warning for a person to standard error.
func (p Process) Warn(text string) {
	_, _ = fmt.Fprintf(p.Stderr, "cardea: %s\n", strings.ReplaceAll(PlainText(text), "\n", "\n  "))
}

// block writes to standard error why a call that cannot be answered is blocked, for the
// harness. It returns the exit code.
func (p Process) block(why string) int {
	_, _ = fmt.Fprintln(p.Stderr, harness.Refused("failure", PlainText(why)))
	return ExitDeny
}

// ThisProcess returns the running process. program is the path of cardea, which starts
// hooks and actions; cardea-engine is looked for in the same folder.
func ThisProcess(program string) Process {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // the commands that need it report it
	}
	engines := policy.Engines{Own: remote.Beside(program), Project: remote.Beside(program)}
	return Process{Program: program, Engines: engines, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Dir: dir,
		Machine: project.ThisMachine(os.Getenv), Managed: claudecode.ManagedDir(runtime.GOOS), Now: time.Now,
		StartDaemon: daemonStarter(program), Harness: person.Harness, Lines: person.CommandLines, Piped: person.Piped, Judge: judgeBeside(program),
		Queue: queue.Engine{Find: func() (string, error) { return remote.Find(program) }}}
}

// judgeBeside returns askers that ask the judge through the cardea-engine in program's folder.
func judgeBeside(program string) func(judge.Request, []string) judge.Asker {
	return func(r judge.Request, fromEnv []string) judge.Asker {
		return judge.Engine{Find: func() (string, error) { return remote.Find(program) }, Environ: os.Environ(), Trusted: fromEnv, Request: r}
	}
}

// ThisProgram returns the path of the running program.
func ThisProgram() string {
	program, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return program
}
