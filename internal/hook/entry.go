package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/script"
)

// The exit codes of what harnesses start. A harness takes any other code of a hook for
// "the hook is broken, go on".
const (
	ExitOK = 0
	// ExitError is an error of what is no hook.
	ExitError = 1
	// ExitDeny blocks the call, and the harness reads the reason from standard error.
	ExitDeny = 2
)

// Run carries out what harnesses start, and what is started often: check, with any
// arguments or with none and a message on standard input, session-check, statusline,
// and the actions that a hook left behind. is is false for all other commands.
func Run(args []string, p Process) (code int, is bool) {
	switch {
	case len(args) == 0:
		message := hookMessage(p.Stdin)
		if message == nil {
			return 0, false
		}
		p.Stdin = message
		return check(nil, p), true
	case args[0] == "check" && !asksForHelp(args[1:]):
		return check(args[1:], p), true
	case len(args) > 1 && asksForHelp(args[1:]):
		return 0, false
	case args[0] == "session-check" && len(args) == 1:
		return SessionCheck(p), true
	case args[0] == "statusline":
		p.Widen()
		_, _ = fmt.Fprintln(p.Stdout, Plain(statusOf(p))) // a status line that cannot be written is no failure
		return ExitOK, true
	case args[0] == script.ActionCommand && len(args) == 1:
		p.Widen()
		return p.exit(script.Perform(p.Stdin)), true
	case args[0] == indexCommand && len(args) == 1:
		p.Widen()
		return indexLessons(p), true
	case len(args) == 1 && (args[0] == "version" || args[0] == "--version" || args[0] == "-v" || args[0] == "-V"):
		return ShowVersion(p), true
	}
	return 0, false
}

// hookMessage is standard input where it begins as a hook message does, nil where
// it does not: some harnesses drop the arguments of a hook and start the bare
// program, and a help text in answer would let the call run.
func hookMessage(stdin io.Reader) io.Reader {
	if stdin == nil || person.Terminal(stdin) {
		return nil
	}
	begin := make([]byte, 512)
	n, err := stdin.Read(begin)
	if err != nil && !errors.Is(err, io.EOF) || !bytes.HasPrefix(bytes.TrimLeft(begin[:n], " \t\r\n\ufeff"), []byte("{")) {
		return nil
	}
	return io.MultiReader(bytes.NewReader(begin[:n]), stdin)
}

// exit is the exit code of what is no hook, and tells the person of an error.
func (p Process) exit(err error) int {
	if err != nil {
		p.Warn(err.Error())
		return ExitError
	}
	return ExitOK
}

// asksForHelp reports whether check was asked what it is. Everything else that
// is wrong with its flags must end in a denial.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// Plainly is an error in words for people: without the names of functions that the
// standard library puts in front.
func Plainly(err error) string {
	text := err.Error()
	if before, after, found := strings.Cut(text, "time: "); found {
		what := "this is no length of time"
		if strings.HasPrefix(after, "missing unit") {
			what = "the unit is missing"
		}
		return before + what + "; write it as 5s, 200ms or 1m30s"
	}
	before, after, found := strings.Cut(text, "strconv.Parse")
	switch {
	case !found:
		return text
	case strings.HasPrefix(after, "Bool"):
		return before + "write true or false"
	case strings.Contains(after, "out of range"):
		return before + "the number is out of range"
	}
	return before + "this is no number"
}
