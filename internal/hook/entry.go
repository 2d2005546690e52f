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

// The exit codes of commands that harnesses start. A harness treats any other exit code of
// a hook as a broken hook and continues.
const (
	ExitOK = 0
	// ExitError is an error of a command that is not a hook.
	ExitError = 1
	// ExitDeny blocks the call. The harness reads the reason from standard error.
	ExitDeny = 2
)

// Run runs a command that harnesses start, or one that starts often: check, session-check,
// statusline, and the actions that a hook started. check also runs without arguments if a
// message is on standard input. is is false for all other commands.
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

// hookMessage returns standard input if it begins like a hook message, else nil. Some
// harnesses drop the arguments of a hook and start the bare program; a help text as the
// answer would let the call run.
func hookMessage(stdin io.Reader) io.Reader {
	if stdin == nil || person.IsTerminal(stdin) {
		return nil
	}
	begin := make([]byte, 512)
	n, err := stdin.Read(begin)
	if err != nil && !errors.Is(err, io.EOF) || !bytes.HasPrefix(bytes.TrimLeft(begin[:n], " \t\r\n\ufeff"), []byte("{")) {
		return nil
	}
	return io.MultiReader(bytes.NewReader(begin[:n]), stdin)
}

// exit returns the exit code of a command that is not a hook, and reports the error to the
// person.
func (p Process) exit(err error) int {
	if err != nil {
		p.Warn(err.Error())
		return ExitError
	}
	return ExitOK
}

// asksForHelp reports whether args only ask for the help of check. Any other wrong flag
// must end in a denial.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// Plainly returns an error's text for people, without the function names that the standard
// library puts in front.
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
