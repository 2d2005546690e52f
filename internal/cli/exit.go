package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"cardea.dev"
)

// The exit codes of every command. check uses only exitOK and exitDeny, since harnesses
// treat any other code as a broken hook and continue.
const (
	exitUsage   = 2
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

// endingsOf returns the meanings of exit codes 0 and 1 for commands that differ from the
// default "".
func endingsOf() map[string][2]string {
	return map[string][2]string{
		"":                {"done", "an error; it is on standard error"},
		"rules test":      {"all tests passed", "a test failed, or a file could not be read"},
		"policy validate": {"no errors; warnings may be shown", "there are errors, or something could not be read"},
		"policy test":     {"all tests passed", "a test failed, or a policy is broken"},
		"policy fmt":      {"all files are formatted", "with --check, --list or --diff: a file is not formatted; or one could not be formatted"},
		"audit verify":    {"intact or empty; accidents may be reported", "something was changed or is missing, or could not be read"},
		"audit search":    {"done, even if nothing was found", "something could not be read; the rest is shown"},
		"knowledge":       {"shown", "nothing is known about the program, or its help could not be used"},
		"explain":         {"shown", "there is no such entry, or it could not be read"},
		"trust verify":    {"nothing differs", "something differs, or could not be compared"},
		"doctor":          {"nothing is wrong", "something is wrong, or no hook is registered"},
		"stats":           {"shown, even if there is nothing", "something could not be read, or is not as the ledger wrote it; the rest is shown"},
		"scan":            {"no secret was found", "a secret was found, or a file could not be searched"},
		"rules lint":      {"no errors; warnings may be shown", "there are errors"},
		"queue":           {"shown or answered, even if nothing waits", "the queue cannot be used"},
		"queue approve":   {"all of them were approved", "one of them was answered before, or its time was over; or an error; it is on standard error"},
		"queue deny":      {"all of them were denied", "one of them was answered before, or its time was over; or an error; it is on standard error"},
		"judge":           {"shown", "the judge did not answer, or an error; it is on standard error"},
		"judge eval":      {"every call was answered", "a call was not answered, or a file could not be read"},

		"compile claude-sandbox": compiledEndings,
		"compile codex-sandbox":  compiledEndings,
	}
}

// endings returns the ways in which a command can end.
func endings(command string) []ending {
	if strings.HasPrefix(command, "import ") {
		return []ending{{exitOK, "shown or written"}, {exitError, "something that protected you is left out and --accept-losses is not given, or an error; it is on standard error"},
			{exitUsage, "wrong usage"}}
	}
	switch command {
	case "check":
		return []ending{
			{exitOK, "the answer is on standard output: a denial, too, where the harness reads it as JSON. No output means no opinion. With --exit-code: no ask, deny or halt"},
			{exitDeny, "the call is denied where the harness reads no JSON, or cannot be judged; the reason is on standard error. Wrong flags block too, so that a misconfigured hook lets nothing through. With --exit-code: ask, deny or halt"},
		}
	case "try":
		out := []ending{{exitOK, "done; with --exit-code: allow"}, {exitError, "the call could not be judged"}, {exitUsage, "wrong usage"}}
		for _, e := range []cardea.Effect{cardea.Abstain, cardea.Ask, cardea.Deny, cardea.Halt, cardea.Defer} {
			out = append(out, ending{exitOf(e), "with --exit-code: " + e.String()})
		}
		return out
	case "statusline":
		return []ending{{exitOK, "always"}}
	}
	m, special := endingsOf()[command]
	if !special {
		m = endingsOf()[""]
	}
	return []ending{{exitOK, m[0]}, {exitError, m[1]}, {exitUsage, "wrong usage"}}
}

// exitHelp returns the paragraph about exit codes in a command's help text.
func exitHelp(command string) string {
	var b strings.Builder
	b.WriteString("Exit codes:")
	for _, e := range endings(command) {
		fmt.Fprintf(&b, "\n  %-3d %s", e.code, e.meaning)
	}
	return b.String()
}

// exitOf returns the exit code of try --exit-code for an effect.
func exitOf(e cardea.Effect) int {
	code, known := map[cardea.Effect]int{cardea.Allow: exitOK, cardea.Abstain: exitAbstain, cardea.Ask: exitAsk, cardea.Deny: exitDenied,
		cardea.Halt: exitHalt, cardea.Defer: exitDefer}[e]
	if !known {
		return exitError
	}
	return code
}

// ended is an error that only sets the exit code, after all output was written.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// wrongUsage is an error in the command line.
type wrongUsage struct{ error }

// codeOf returns the exit code for a command's error. tell is true if the error must still
// be shown.
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
		return exitError, false // the reader has closed the pipe
	}
	return exitError, true
}
