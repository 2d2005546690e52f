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

// overHTTP has the harness send its hooks to the daemon, if the person wants that. Only a
// harness that blocks a call whose hook fails may do so.
func (f installFlags) overHTTP(p Process, s site, h install.Harness, version string, w *install.Wanted) error {
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
	token := "TOKEN" // a dry run makes none
	if _, err := os.Lstat(state.TokenPath(s.Place.State)); err == nil || !f.dryRun {
		if token, err = web.Token(s.Place.State); err != nil {
			return err
		}
	}
	w.HTTP, w.Token = address, token
	return nil
}

var bearer = regexp.MustCompile(`Bearer [0-9a-f]{64}`)

// withoutToken is a text in which no token of HTTP can be read.
func withoutToken(text string) string { return bearer.ReplaceAllString(text, "Bearer …") }

// probeHTTP sends a call that must be denied to the daemon, if the hook does so, too.
func probeHTTP(p Process, s site, h install.Harness, w install.Wiring, dir string) error {
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
