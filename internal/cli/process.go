package cli

import (
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/org"
	"cardea.dev/internal/person"
	"cardea.dev/internal/project"
)

// Process is what a command has of the process that it runs in. Tests give it
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
	// Program is this program's binary, which actions are started by.
	Program string
	// Engines compile and evaluate policies, and run their tests.
	Engines policy.Engines
	// Fetch gets the archives of organisations.
	Fetch org.Fetcher
	// Edit opens a file in the person's editor.
	Edit func(path string) error
	// Now is the clock.
	Now func() time.Time
	// Person says why it is not sure that a person is typing, or nil. Code is
	// a fresh code for them to repeat.
	Person func() error
	Code   func() string
	// Typist says, in a hook, why it is not sure that a person typed the prompt, or nil.
	Typist func() error
	// AllProcessors is called before more is done than to judge a short message; nil
	// is for a process that has them all.
	AllProcessors func()
	// Lines are the command lines of the processes above, nil for none.
	Lines func() [][]string

	// patience is how long a hook may wait for the registration of a session.
	patience time.Duration
	// given are settings files of the harness that the command was told of.
	given []string
}

// widen lets goroutines run at the same time.
func (p Process) widen() {
	if p.AllProcessors != nil {
		p.AllProcessors()
	}
}

// warn tells a person something on standard error.
func (p Process) warn(text string) {
	s := screenOn(p.Stderr, p.Env)
	s.printf("cardea: ")
	s.block("", strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  "))
}

// attended reports whether it is sure enough that a person is typing.
func (p Process) attended() bool { return p.Person != nil && p.Person() == nil }

// byPerson makes sure that a person wants what a command is about to do, which
// show tells them. What is shown and the code are on standard error, apart from the
// answer.
func (p Process) byPerson(what string, show func(*screen)) error {
	return p.confirm(what, p.Code, show)
}

// byKey does the same with a code of one letter. It is for what a person does
// often, and looks at each time.
func (p Process) byKey(what string, show func(*screen)) error {
	return p.confirm(what, func() string { return p.Code()[:1] }, show)
}

func (p Process) confirm(what string, code func() string, show func(*screen)) error {
	out := screenOn(p.Stderr, p.Env)
	check := person.Check{Attending: p.Person, Code: code, Stdin: p.Stdin}
	return check.Confirm(func() { show(out) }, func(code string) error {
		out.printf("\ntype %s %s: ", painted{bold, code}, what)
		return out.err
	})
}

// ThisProcess is the process itself.
func ThisProcess() Process {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // the commands that need it say so
	}
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	engines := policy.Engines{Own: remote.Beside(program), Project: remote.Beside(program)}
	return Process{Program: program, Engines: engines, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Dir: dir,
		Machine: project.ThisMachine(os.Getenv), Managed: claudecode.ManagedDir(runtime.GOOS), Now: time.Now,
		Person: func() error { return person.ThisSeat().Attending() }, Code: person.Code,
		Typist: person.Typist, Lines: person.CommandLines,
		Edit: editor, Fetch: org.ByEngine(func() (string, error) { return remote.Find(program) }, os.Getenv)}
}
