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

// Process is what a command has of the process that it runs in. Tests give it
// other ends.
type Process struct {
	hook.Process
	// Temporary are the machine's temporary folders.
	Temporary []string
	// Fetch gets the archives of organisations.
	Fetch org.Fetcher
	// Edit opens a file in the person's editor.
	Edit func(path string) error
	// Person says why it is not sure that a person is typing, or nil. Code is
	// a fresh code for them to repeat.
	Person func() error
	// Agent returns an error if an agent started the command, or may have. Nil means that one did.
	Agent func() error
	Code  func() string
	// Say shows a text on the person's desktop, if there is one; nil shows nothing.
	Say func(ctx context.Context, title, body string) error
}

// ThisProcess is the process itself. program is the path of cardea.
func ThisProcess(program string) Process {
	return Process{Process: hook.ThisProcess(program), Temporary: append(files.Temporary(), os.TempDir(), "/dev/shm", "/run"),
		Person: func() error { return person.ThisSeat().Attending() }, Agent: func() error { return person.ThisSeat().UnderAgent() }, Code: person.Code,
		Edit: editor, Fetch: org.ByEngine(func() (string, error) { return remote.Find(program) }, os.Getenv)}
}

// warn tells a person something on standard error.
func (p Process) warn(text string) { p.Warn(text) }

// attended reports whether it is sure enough that a person is typing.
func (p Process) attended() bool { return p.Person != nil && p.Person() == nil }

// byAgent reports whether an agent started the command, or may have.
func (p Process) byAgent() bool { return p.agentAbove() != nil }

// agentAbove says why an agent may have started the command, or nil.
func (p Process) agentAbove() error {
	if p.Agent == nil {
		return errors.New("it cannot be told who started this command")
	}
	return p.Agent()
}

// untilEnded is a context that ends when the process is asked to end.
func untilEnded() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// in is the process in another folder.
func (p Process) in(dir string) Process {
	p.Dir = dir
	return p
}

// byPerson makes sure that a person wants what a command is about to do, which
// show tells them. what completes "type k7q2mf to", and says what will happen. What is
// shown and the question are on standard error, apart from the answer.
func (p Process) byPerson(what string, show func(*screen)) error {
	return p.confirm(what, p.Code, show)
}

// byLetter does the same with a code of one letter. It is for the calls that wait in the
// queue, which a person answers often.
func (p Process) byLetter(what string, show func(*screen)) error {
	return p.confirm(what, func() string { return p.Code()[:1] }, show)
}

// confirm asks the question of all commands, in its one form.
func (p Process) confirm(what string, code func() string, show func(*screen)) error {
	out := screenOn(p.Stderr, p.Env)
	check := person.Check{Attending: p.Person, Code: code, Stdin: p.Stdin}
	return check.Confirm(func() { show(out) }, func(code string) error {
		out.printf("\ntype %s to %s: ", painted{bold, code}, what)
		return out.err
	})
}
