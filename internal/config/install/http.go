package install

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/state"
)

// HookPath is the path of the daemon's URL for hooks.
const HookPath = "/cardea/check"

// ByHTTP reports whether a harness can send the hook of an event by HTTP, and blocks a call
// if that fails. Prompts need a process below the harness, which can check that a person
// typed them. SessionStart and Setup also need one, since Claude Code does not send them
// (hooks reference).
func (h Harness) ByHTTP(event string) bool {
	return h.posts && !slices.Contains(h.prompts, event) && event != "SessionStart" && event != "Setup"
}

// posting returns a handler that sends the hook to the daemon.
func (h Harness) posting(w Wanted) []jsonedit.Field {
	flags := url.Values{"harness": {h.Name}, "limit": {w.Limit().String()}}
	if w.Unattended {
		flags.Set("unattended", "true")
	}
	return []jsonedit.Field{{Key: "type", Value: "http"}, {Key: "url", Value: "http://" + w.HTTP + HookPath + "?" + flags.Encode()},
		{Key: "headers", Value: []jsonedit.Field{{Key: "Authorization", Value: "Bearer " + w.Token}}}, {Key: h.timeout, Value: int(w.Timeout / time.Second)},
		{Key: h.switchKey, Value: h.switchValue}}
}

// sent returns the URL to which a handler sends hooks, nil if it does not send them to a
// daemon.
func sent(handler *jsonedit.Node) *url.URL {
	if handler.Str("type") != "http" {
		return nil
	}
	to, err := url.Parse(handler.Str("url"))
	if err != nil || to.Path != HookPath {
		return nil
	}
	return to
}

// readPosting fills w from a handler that sends hooks.
func (w *Wiring) readPosting(handler *jsonedit.Node) {
	to := sent(handler)
	if to == nil {
		return
	}
	w.URL, w.Shell, w.Program, w.Args = to.Redacted(), "", "", nil
	w.token, _ = strings.CutPrefix(handler.Get("headers").Str("Authorization"), "Bearer ")
	flags := to.Query()
	for _, name := range []string{"harness", "limit"} {
		if value := flags.Get(name); value != "" {
			w.Args = append(w.Args, "--"+name, value)
		}
	}
}

// postingProblem returns why a hook sent by HTTP is not a gate, "" if it is one.
func (h Harness) postingProblem(w Wiring) (code diagnostic.Code, text string) {
	switch {
	case !h.ByHTTP(w.Event):
		return CodeSomeCalls, h.Title + " cannot send this event by HTTP, or it must not"
	case w.OnFailure != h.switchValue:
		return CodeFailsOpen, "a call runs when the daemon is not there, since " + h.switchKey + " is not " + h.switchValue
	case !w.onThisMachine():
		return diagnostic.CodeBadValue, "it sends calls to another address than this machine's"
	}
	return "", ""
}

// OtherToken returns the message that others can read a file with the token, and how to
// replace the token.
func OtherToken(file, folder string) string {
	return fmt.Sprintf("others can read %s, which holds the token of HTTP; run: %s; start \"cardea serve\" again", file, shellLine("", "rm", []string{"-f", state.TokenPath(folder)}))
}

// Open reports whether others can read the file of a hook with a token.
func (w Wiring) Open() bool {
	info, err := os.Stat(w.File)
	return w.URL != "" && err == nil && info.Mode().Perm()&othersBits != 0
}

// onThisMachine reports whether a hook is sent to a loopback address.
func (w Wiring) onThisMachine() bool {
	to, err := url.Parse(w.URL)
	return err == nil && to.Scheme == "http" && (to.Hostname() == "127.0.0.1" || to.Hostname() == "::1") && to.User == nil
}

// ProbeHTTP sends a hook as the harness would, with a call that must be denied. It returns
// nil for a denial, else what is wrong with the answer. The hook's token must be the
// daemon's: a project's settings must not control what is sent, or where. The function send
// sends a message, and returns the body of a response with status 200.
func ProbeHTTP(h Harness, w Wiring, address, token, dir string, send func(to, token string, message []byte) ([]byte, error)) error {
	to, err := url.Parse(w.URL)
	switch {
	case err != nil || !w.onThisMachine() || to.Host != address:
		return errors.New("it sends calls to another address than the daemon's, which is daemon.http in your settings, so it was not tried")
	case w.token != token || token == "":
		return errors.New("it has another token than the daemon's, so every call is blocked; run \"cardea install " + h.Program + " --http\" again")
	}
	out, err := send(w.URL, token, h.mustBeDenied(dir))
	var unheard *url.Error
	switch {
	case errors.As(err, &unheard):
		return fmt.Errorf("the daemon gives no answer, so every call is blocked: %w; start it with \"cardea serve\"", err)
	case err != nil:
		return fmt.Errorf("the daemon refuses this call, and so all of a harness with these variables: %w", err)
	}
	return denies(out, h)
}
