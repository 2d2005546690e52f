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

// startDaemon starts the daemon where settings say so and there is none. The answer is
// out, so a failure is no more than told.
func (h *Hook) startDaemon() {
	p := h.progress.Load()
	if p.daemon == nil || h.process.StartDaemon == nil || h.process.Elsewhere != nil {
		return
	}
	if err := h.process.StartDaemon(h.process.Env, p.daemon.state, p.daemon.idle); err != nil {
		h.process.Warn("the daemon is not started: " + err.Error())
	}
}

// daemonWanted is what the settings say of the daemon.
type daemonWanted struct {
	// state is the state folder.
	state string
	idle  time.Duration
}

// daemon is the daemon that is to run, nil for none.
func (j *Judgement) daemon() *daemonWanted {
	d := j.Loaded.Settings.Daemon
	if !d.Start || j.Place.State == "" {
		return nil
	}
	if d.HTTP != "" && d.HTTP != "off" {
		d.Idle = 0 // calls over HTTP are blocked while it does not run
	}
	return &daemonWanted{j.Place.State, d.Idle}
}

// startMark is the file that says when a hook last started the daemon.
const startMark = "daemon-started"

// daemonStarter starts the daemon of the programs among which one lies. It gets the
// variables that say where the person's files are, and none of the harness's: those may
// hold keys, and who starts it is not who it answers.
func daemonStarter(program string) func(func(string) string, string, time.Duration) error {
	return func(env func(string) string, in string, idle time.Duration) error {
		if control.StampOf(program) == "" || control.Listens(control.Socket(env)) {
			return nil
		}
		mark := filepath.Join(in, startMark)
		if info, err := os.Lstat(mark); err == nil && time.Since(info.ModTime()).Abs() < limit.DaemonStart {
			return nil // another hook has started it, or it cannot be started
		}
		if err := state.Write(mark, nil); err != nil {
			return err
		}
		return script.StartAlone(program, control.Folders(env), "serve", "--idle", idle.String())
	}
}
