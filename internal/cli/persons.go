package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
	_ "cardea.dev/internal/command/disk/archives"  // reads archives

	"cardea.dev/internal/base/person"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/config/org"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/hook"
)

// Process is a command's view of its process. Tests replace parts of it.
type Process struct {
	hook.Process
	// Temporary are the machine's temporary folders.
	Temporary []string
	// Fetch gets the archives of organisations.
	Fetch org.Fetcher
	// Edit opens a file in the person's editor.
	Edit func(path string) error
	// Person returns nil if it is certain that a person is typing, else the reason. Code
	// returns a new code for them to repeat.
	Person func() error
	// Agent returns an error if an agent started the command, or may have. If it is nil, an
	// agent is assumed.
	Agent func() error
	Code  func() string
	// Say shows a text on the person's desktop, if there is one. It may be nil.
	Say func(ctx context.Context, title, body string) error
}

// ThisProcess returns the running process. program is the path of cardea.
func ThisProcess(program string) Process {
	return Process{Process: hook.ThisProcess(program), Temporary: append(files.Temporary(), os.TempDir(), "/dev/shm", "/run"),
		Person: func() error { return person.ThisTerminal().Attending() }, Agent: func() error { return person.ThisTerminal().UnderAgent() }, Code: person.Code,
		Edit: editor, Fetch: org.ByEngine(func() (string, error) { return remote.Find(program) }, os.Getenv)}
}

// warn writes a warning for a person to standard error.
func (p Process) warn(text string) { p.Warn(text) }

// attended reports whether it is certain that a person is typing.
func (p Process) attended() bool { return p.Person != nil && p.Person() == nil }

// byAgent reports whether an agent started the command, or may have.
func (p Process) byAgent() bool { return p.agentAbove() != nil }

// agentAbove returns why an agent may have started the command, or nil.
func (p Process) agentAbove() error {
	if p.Agent == nil {
		return errors.New("it cannot be told who started this command")
	}
	return p.Agent()
}

// untilEnded returns a context that ends when the process is asked to end.
func untilEnded() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// in returns the process with another working folder.
func (p Process) in(dir string) Process {
	p.Dir = dir
	return p
}

// byPerson asks a person to confirm what a command is about to do, which show explains.
// what completes the question "type k7q2mf to". The question goes to standard error, apart
// from the command's output.
func (p Process) byPerson(what string, show func(*screen)) error {
	return p.confirm(what, p.Code, show)
}

// byLetter does the same as byPerson with a code of one letter. It is for the calls in the
// queue, which a person answers often.
func (p Process) byLetter(what string, show func(*screen)) error {
	return p.confirm(what, func() string { return p.Code()[:1] }, show)
}

// confirm asks the question in the form that all commands use.
func (p Process) confirm(what string, code func() string, show func(*screen)) error {
	out := screenOn(p.Stderr, p.Env)
	check := person.Check{Attending: p.Person, Code: code, Stdin: p.Stdin}
	return check.Confirm(func() { show(out) }, func(code string) error {
		out.printf("\ntype %s to %s: ", painted{bold, code}, what)
		return out.err
	})
}
