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
	// Asked is set where a registered hook asks it.
	Asked bool `json:"asked"`
	// Starts is set where a hook starts it.
	Starts bool `json:"starts"`
	// Why says why it is not asked, "" where it runs.
	Why string `json:"why"`
}

// checkDaemon asks the daemon for nothing, as a hook asks it.
func (c *checkup) checkDaemon(p Process) {
	d := &c.Daemon
	for _, h := range c.Harnesses {
		d.Asked = d.Asked || slices.ContainsFunc(h.Wirings, func(w install.Wiring) bool { return install.IsAsker(w.Program) })
	}
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
	switch {
	case d.State == daemonSilent:
		c.add(cardea.LevelWarning, install.CodeDaemon, "end it, and run \"cardea serve\"", "the daemon is not asked: "+d.Why)
	case d.Asked && !d.Starts && d.State == daemonGone:
		c.add(cardea.LevelNote, install.CodeDaemon, "run \"cardea serve\", or set daemon.start", "a hook asks the daemon, and it does not run: cardea answers")
	case d.Starts && !d.Asked:
		c.add(cardea.LevelNote, install.CodeDaemon, "run \"cardea install\" again for each harness", "hooks start the daemon (daemon.start), and none asks it")
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
