package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/hook/daemon/web"
)

// overHTTP makes the harness send its hooks to the daemon, if --http is set. It fails for a
// harness that does not block a call whose hook fails.
func (f installFlags) overHTTP(p Process, s harnessPaths, h install.Harness, version string, w *install.Wanted) error {
	if !f.http {
		return nil
	}
	if !h.ByHTTP(h.Gate()) {
		return wrongUsage{fmt.Errorf("%s lets a call run when a hook over HTTP fails; leave --http out", h.Title)}
	}
	if !w.FailClosed {
		return fmt.Errorf("--http needs a version that blocks a call whose hook fails: %s", h.WhenFailing(version, "it was not told", false))
	}
	address, err := httpAddress(p, "")
	if err != nil {
		return err
	}
	if address == "" {
		return errors.New("the daemon has no address for HTTP; run: cardea config set daemon.http 127.0.0.1:7717")
	}
	token := "TOKEN" // a dry run creates no token
	if _, err := os.Lstat(state.TokenPath(s.Place.State)); err == nil || !f.dryRun {
		if token, err = web.Token(s.Place.State); err != nil {
			return err
		}
	}
	w.HTTP, w.Token = address, token
	return nil
}

var bearer = regexp.MustCompile(`Bearer [0-9a-f]{64}`)

// withoutToken returns a text with the HTTP tokens removed.
func withoutToken(text string) string { return bearer.ReplaceAllString(text, "Bearer …") }

// probeHTTP sends the daemon a call that must be denied, if the hook has the daemon's address
// and token.
func probeHTTP(p Process, s harnessPaths, h install.Harness, w install.Wiring, dir string) error {
	address, err := httpAddress(p, "")
	if err != nil {
		return err
	}
	token, err := web.Token(s.Place.State)
	if err != nil {
		return err
	}
	return install.ProbeHTTP(h, w, address, token, dir, web.Send)
}
