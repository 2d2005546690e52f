package hook

import (
	"os"
	"path/filepath"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/hook/control"
)

// startDaemon starts the daemon if the settings say so and none runs. The answer is already
// out, so a failure is only a warning.
func (h *Hook) startDaemon() {
	p := h.progress.Load()
	if p.daemon == nil || h.process.StartDaemon == nil || h.process.Handover != nil {
		return
	}
	if err := h.process.StartDaemon(h.process.Env, p.daemon.state, p.daemon.idle); err != nil {
		h.process.Warn("the daemon is not started: " + err.Error())
	}
}

// daemonWanted holds the settings of the daemon.
type daemonWanted struct {
	// state is the state folder.
	state string
	idle  time.Duration
}

// daemon returns the settings of the daemon to start, or nil.
func (j *Evaluation) daemon() *daemonWanted {
	d := j.Loaded.Settings.Daemon
	if !d.Start || j.Place.State == "" {
		return nil
	}
	if d.HTTP != "" && d.HTTP != "off" {
		d.Idle = 0 // calls over HTTP are blocked while it does not run
	}
	return &daemonWanted{j.Place.State, d.Idle}
}

// startMark is the file whose time is that of the last start of the daemon by a hook.
const startMark = "daemon-started"

// daemonStarter returns a function that starts the daemon of program's installation. The
// daemon gets the variables that name the person's folders, and none of the harness's.
// Those may hold keys, and the daemon also answers other harnesses.
func daemonStarter(program string) func(func(string) string, string, time.Duration) error {
	return func(env func(string) string, in string, idle time.Duration) error {
		if control.StampOf(program) == "" || control.Listens(control.Socket(env)) {
			return nil
		}
		mark := filepath.Join(in, startMark)
		if info, err := os.Lstat(mark); err == nil && time.Since(info.ModTime()).Abs() < limit.DaemonStart {
			return nil // another hook has started it, or it cannot start
		}
		if err := state.Write(mark, nil); err != nil {
			return err
		}
		return script.StartAlone(program, control.Folders(env), "serve", "--idle", idle.String())
	}
}
