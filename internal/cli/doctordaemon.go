package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/control"
	"cardea.dev/internal/install"
	"cardea.dev/internal/limit"
)

// The states of the daemon.
const (
	daemonRuns   = "runs"
	daemonSilent = "does not answer"
	daemonGone   = "does not run"
	daemonNone   = "not on this system"
)

// daemonReport is what doctor says about the daemon.
type daemonReport struct {
	State string `json:"state"`
	// Socket is its socket, "" where there can be none.
	Socket string `json:"socket"`
	// Asked is set where a registered hook asks it: by cardea-hook, or over HTTP.
	Asked bool `json:"asked"`
	// Starts is set where a hook starts it.
	Starts bool `json:"starts"`
	// Why says why it is not asked, "" where it runs.
	Why string `json:"why"`
}

// checkDaemon asks the daemon for nothing, as a hook asks it.
func (c *checkup) checkDaemon(p Process) {
	d := &c.Daemon
	d.Asked = c.wired(asksDaemon) || c.wired(postsToDaemon)
	if l, _, err := gather(p, nil); err == nil {
		d.Starts = l.Settings.Daemon.Start
	}
	engine := filepath.Join(filepath.Dir(install.Asker(p.Program)), "cardea-engine")
	stamp := control.StampOf(engine)
	d.State, d.Why = daemonNone, "hooks are answered by a process each"
	if stamp == "" {
		return
	}
	d.Socket = control.Socket(p.Env)
	d.State, d.Why = askDaemon(d.Socket, engine, stamp)
	c.tellDaemon()
}

// wired reports whether a hook of some harness is of a kind.
func (c *checkup) wired(kind func(install.Wiring) bool) bool {
	return slices.ContainsFunc(c.Harnesses, func(h hookReport) bool { return slices.ContainsFunc(h.Wirings, kind) })
}

func asksDaemon(w install.Wiring) bool    { return install.IsAsker(w.Program) }
func postsToDaemon(w install.Wiring) bool { return w.URL != "" }
func fromPlugin(w install.Wiring) bool    { return w.Scope == install.Plugin }

// tellDaemon says what keeps hooks and the daemon apart.
func (c *checkup) tellDaemon() {
	d := &c.Daemon
	note := func(hint, text string) { c.add(cardea.LevelNote, install.CodeDaemon, hint, text) }
	again := "run \"cardea install\" again for each harness"
	if c.wired(fromPlugin) {
		again += ", and put cardea-hook beside cardea, where the plugin looks for it"
	}
	switch {
	case d.State == daemonSilent:
		c.add(cardea.LevelWarning, install.CodeDaemon, "end it, and run \"cardea serve\"", "the daemon is not asked: "+d.Why)
	case d.State == daemonNone:
	case d.Starts && !d.Asked:
		note(again, "hooks start the daemon (daemon.start), and none asks it")
	case !d.Starts && d.State == daemonGone && c.wired(asksDaemon): // one over HTTP was tried
		note("run \"cardea serve\", or set daemon.start", "a hook asks the daemon, and it does not run: cardea answers")
	case d.State == daemonRuns && !d.Asked:
		note("set daemon.start to true and "+again+", so that it starts cardea-hook; or end the daemon",
			"the daemon runs, and no hook asks it: none starts cardea-hook")
	}
}

// askDaemon has the daemon leave a call: it answers so to whoever belongs to another
// installation.
func askDaemon(socket, engine, stamp string) (state, why string) {
	if socket == "" {
		return daemonGone, "there is no folder for its socket: set XDG_RUNTIME_DIR to a short absolute path"
	}
	_, err := daemonAt(socket, engine).Check(control.Call{Program: stamp + "doctor"}, time.Now().Add(2*limit.DaemonSilence))
	var left control.LeftError
	switch {
	case errors.As(err, &left):
		return daemonRuns, ""
	case !control.Listens(socket):
		return daemonGone, "nobody listens at its socket"
	case err == nil:
		return daemonSilent, "it answered what it must not"
	}
	return daemonSilent, err.Error()
}

func (c *checkup) showDaemon(out *screen) {
	d := c.Daemon
	if d.State == daemonNone || !d.Asked && !d.Starts && d.State == daemonGone {
		return
	}
	out.printf("daemon: %s\n", d.State)
	out.field("socket", d.Socket)
}
