package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"cardea.dev"
)

// The exit codes of every command. check knows only exitOK and exitDeny,
// because harnesses take any other code for "the hook is broken, go on".
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
	// exitDeny is check's exit 2: the harness blocks the call and reads the
	// reason from standard error.
	exitDeny    = 2
	exitAbstain = 10
	exitAsk     = 11
	exitDenied  = 12
	exitHalt    = 13
	exitDefer   = 14
)

// ending is one way in which a command can end.
type ending struct {
	code    int
	meaning string
}

// endings is the table: how each command can end. A command that is not named
// ends as most do.
func endings(command string) []ending {
	switch command {
	case "check":
		return []ending{
			{exitOK, "the answer is on standard output; no output means no opinion"},
			{exitDeny, "the call is blocked, and the reason is on standard error; wrong flags block too, so that a misconfigured hook lets nothing through"},
		}
	case "try":
		return []ending{
			{exitOK, "done; with --exit-code: allow"},
			{exitError, "the call could not be judged"},
			{exitUsage, "wrong usage"},
			{exitAbstain, "with --exit-code: abstain"},
			{exitAsk, "with --exit-code: ask"},
			{exitDenied, "with --exit-code: deny"},
			{exitHalt, "with --exit-code: halt"},
			{exitDefer, "with --exit-code: defer"},
		}
	case "test":
		return []ending{{exitOK, "all tests passed"}, {exitError, "a test failed, or a file could not be read"}, {exitUsage, "wrong usage"}}
	case "policy validate":
		return []ending{{exitOK, "no errors; warnings may be shown"}, {exitError, "there are errors, or something could not be read"}, {exitUsage, "wrong usage"}}
	case "policy test":
		return []ending{{exitOK, "all tests passed"}, {exitError, "a test failed, or a policy is broken"}, {exitUsage, "wrong usage"}}
	case "audit verify":
		return []ending{{exitOK, "intact or empty; accidents may be reported"}, {exitError, "something was changed or is missing, or could not be read"}, {exitUsage, "wrong usage"}}
	case "audit search":
		return []ending{{exitOK, "done, even if nothing was found"}, {exitError, "something could not be read; the rest is shown"}, {exitUsage, "wrong usage"}}
	case "knowledge":
		return []ending{{exitOK, "shown"}, {exitError, "nothing is known about the program, or its help could not be used"}, {exitUsage, "wrong usage"}}
	case "explain":
		return []ending{{exitOK, "shown"}, {exitError, "there is no such entry, or it could not be read"}, {exitUsage, "wrong usage"}}
	case "trust verify":
		return []ending{{exitOK, "nothing differs"}, {exitError, "something differs, or could not be compared"}, {exitUsage, "wrong usage"}}
	case "doctor":
		return []ending{{exitOK, "nothing is wrong"}, {exitError, "something is wrong, or no hook is registered"}, {exitUsage, "wrong usage"}}
	case "statusline":
		return []ending{{exitOK, "always"}}
	case "lint":
		return []ending{{exitOK, "no errors; warnings may be shown"}, {exitError, "there are errors"}, {exitUsage, "wrong usage"}}
	}
	return []ending{{exitOK, "done"}, {exitError, "an error; it is on standard error"}, {exitUsage, "wrong usage"}}
}

// exitHelp is the paragraph about exit codes in a command's help text.
func exitHelp(command string) string {
	var b strings.Builder
	b.WriteString("Exit codes:")
	for _, e := range endings(command) {
		fmt.Fprintf(&b, "\n  %-3d %s", e.code, e.meaning)
	}
	return b.String()
}

// exitOf maps an effect to the exit code of try --exit-code.
func exitOf(e cardea.Effect) int {
	switch e {
	case cardea.Allow:
		return exitOK
	case cardea.Abstain:
		return exitAbstain
	case cardea.Ask:
		return exitAsk
	case cardea.Deny:
		return exitDenied
	case cardea.Halt:
		return exitHalt
	case cardea.Defer:
		return exitDefer
	}
	return exitError
}

// ended ends a command with a code after everything was said.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// wrongUsage is an error of the person who typed the command.
type wrongUsage struct{ error }

// codeOf is the exit code for what a command returned, and whether the error
// is still to be told.
func codeOf(err error) (code int, tell bool) {
	var e ended
	var u wrongUsage
	switch {
	case err == nil:
		return exitOK, false
	case errors.As(err, &e):
		return int(e), false
	case errors.As(err, &u):
		return exitUsage, true
	case errors.Is(err, syscall.EPIPE):
		return exitError, false // who read it has seen enough
	}
	return exitError, true
}
