package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/hook/control"
)

// queueReport holds the findings about the queue.
type queueReport struct {
	Mode    string `json:"mode"`
	Waiting int    `json:"waiting"`
	// Works is set if the queue can be opened and read.
	Works bool `json:"works"`
}

// checkQueue opens the queue if calls wait in it, and checks that the hooks have enough time.
func (c *checkup) checkQueue(p Process) {
	l, _, err := gather(p, nil)
	if err != nil || !l.Settings.Human.Queues() {
		return
	}
	human := l.Settings.Human
	c.Queue = &queueReport{Mode: human.Mode}
	if _, s, err := queueHere(p); err != nil {
		c.add(diagnostic.LevelError, diagnostic.CodeUnwritten, "calls that a person must answer are denied until it works", "the queue cannot be used: "+err.Error())
	} else {
		all, err := s.Pending(context.Background())
		c.Queue.Works, c.Queue.Waiting = err == nil, len(all)
		if err != nil {
			c.add(diagnostic.LevelError, diagnostic.CodeUnwritten, "", "the queue cannot be read: "+err.Error())
		}
		_ = s.Close() // it was only read
	}
	for i := range c.Harnesses {
		r := &c.Harnesses[i]
		for _, w := range r.Wirings {
			if most := limit.QueueWait(w.Limit); w.Limit > 0 && most < human.Timeout && (w.Event == string(cardea.PreToolUse) || w.Event == string(cardea.PermissionRequest)) {
				hint := "run \"cardea install\" again"
				if w.Scope == install.Plugin { // the plugin's limit is the same for all
					hint = fmt.Sprintf("set human.timeout to %s at most, or take \"cardea install\" in place of the plugin", most.Truncate(time.Second))
				}
				r.add(diagnostic.LevelWarning, diagnostic.CodeIgnored, hint,
					fmt.Sprintf("a call waits for a person for %s at most on %s, and not for %s as human.timeout says: the hook has no more time", most, w.Event, human.Timeout))
			}
		}
	}
}

// showQueue shows whether the queue works.
func (c checkup) showQueue(s *screen) {
	if c.Queue == nil {
		return
	}
	state := either(c.Queue.Works, painted{green, "works"}, painted{red, "does not work"})
	s.printf("\n%s (human.mode: %s): %s, %s\n", painted{bold, "the queue"}, c.Queue.Mode, state, waitingCalls(c.Queue.Waiting))
}

// checker reports which providers are available.
type checker interface {
	Check(ctx context.Context) ([]judge.Availability, error)
}

// checkJudge checks that the judge's providers are available, if the judge is on. It asks
// no question.
func (c *checkup) checkJudge(p Process) {
	l, pl, err := gather(p, nil)
	if err != nil || !l.Settings.Judge.Enabled || p.Judge == nil {
		return
	}
	_, problems := l.JudgePolicy()
	c.Diagnostics = append(c.Diagnostics, problems...)
	if l.Settings.Judge.Backend != "chain" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit.JudgeCheck)
	defer cancel()
	asker, checks := p.Judge(pl.JudgeRequest(l.Settings.Judge.Config), l.Settings.FromEnv).(checker)
	if !checks {
		return
	}
	all, err := asker.Check(ctx)
	if err != nil {
		c.add(diagnostic.LevelError, diagnostic.CodeNoJudge, "", "the judge cannot be asked: "+err.Error())
		return
	}
	c.Judge = append(c.Judge, all...)
	if !slices.ContainsFunc(all, func(a judge.Availability) bool { return a.Why == "" && a.Paused == "" }) {
		c.add(diagnostic.LevelWarning, diagnostic.CodeNoJudge, "see docs/judge.md", "no provider of the judge can be asked, so the agent's own prompt decides")
	}
}

// showJudge shows the providers.
func (c checkup) showJudge(s *screen) {
	if len(c.Judge) == 0 {
		return
	}
	s.printf("\n%s\n", painted{bold, "the judge"})
	for _, a := range c.Judge {
		state := painted{green, "there"}
		switch {
		case a.Why != "":
			state = painted{yellow, "cannot be asked"}
		case a.Paused != "":
			state = painted{yellow, "there, and left alone"}
		}
		s.printf("  %s %s  %s\n", a.Provider, a.Model, state)
		s.field("  why", a.Why)
		s.field("  left alone", a.Paused)
		s.printIf(!a.Priced, "    its price is not known\n")
	}
}

// The states of the daemon.
const (
	daemonRuns   = "runs"
	daemonSilent = "does not answer"
	daemonGone   = "does not run"
	daemonNone   = "not on this system"
)

// daemonReport holds the findings about the daemon.
type daemonReport struct {
	State string `json:"state"`
	// Socket is its socket, or "" if none is possible.
	Socket string `json:"socket"`
	// HTTP is the address at which it listens for HTTP, or "".
	HTTP string `json:"http"`
	// Asked is set if a registered hook asks it, by cardea-hook or over HTTP.
	Asked bool `json:"asked"`
	// Starts is set if a hook starts it.
	Starts bool `json:"starts"`
	// Why is the reason why it is not asked, or "" if it runs.
	Why string `json:"why"`
}

// checkDaemon connects to the daemon as a hook does.
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
	if d.State, d.Why = askDaemon(d.Socket, engine, stamp); d.State != daemonGone {
		d.HTTP = announced(p)
	}
	c.tellDaemon()
}

// tellHTTP warns about what the daemon ignores of daemon.http.
func (c *checkup) tellHTTP(p Process) {
	for _, line := range unfollowed(p, c.Daemon.HTTP, " (the daemon: "+c.Daemon.State+")") {
		c.add(diagnostic.LevelWarning, install.CodeDaemon, "end the daemon, and run \"cardea serve\"", line)
	}
}

// wired reports whether any harness has a hook of this kind.
func (c *checkup) wired(kind func(install.Wiring) bool) bool {
	return slices.ContainsFunc(c.Harnesses, func(h hookReport) bool { return slices.ContainsFunc(h.Wirings, kind) })
}

func asksDaemon(w install.Wiring) bool    { return install.IsAsker(w.Program) }
func postsToDaemon(w install.Wiring) bool { return w.URL != "" }
func fromPlugin(w install.Wiring) bool    { return w.Scope == install.Plugin }

// tellDaemon reports why hooks and the daemon do not work together.
func (c *checkup) tellDaemon() {
	d := &c.Daemon
	note := func(hint, text string) { c.add(diagnostic.LevelNote, install.CodeDaemon, hint, text) }
	again := "run \"cardea install\" again for each harness"
	if c.wired(fromPlugin) {
		again += ", and put cardea-hook beside cardea, where the plugin looks for it"
	}
	switch {
	case d.State == daemonSilent:
		c.add(diagnostic.LevelWarning, install.CodeDaemon, "end it, and run \"cardea serve\"", "the daemon is not asked: "+d.Why)
	case d.State == daemonNone:
	case d.Starts && !d.Asked:
		note(again, "hooks start the daemon (daemon.start), and none asks it")
	case !d.Starts && d.State == daemonGone && c.wired(asksDaemon): // a hook over HTTP was tried
		note("run \"cardea serve\", or set daemon.start", "a hook asks the daemon, and it does not run: cardea answers")
	case d.State == daemonRuns && !d.Asked:
		note("set daemon.start to true and "+again+", so that it starts cardea-hook; or end the daemon",
			"the daemon runs, and no hook asks it: none starts cardea-hook")
	}
}

// askDaemon makes the daemon leave a call, as it does for every caller of another installation.
func askDaemon(socket, engine, stamp string) (state, why string) {
	if socket == "" {
		return daemonGone, "there is no folder for its socket: set XDG_RUNTIME_DIR to a short absolute path"
	}
	_, err := daemonAt(socket, engine).Check(control.CheckRequest{Program: stamp + "doctor"}, time.Now().Add(2*limit.DaemonSilence))
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
	out.field("HTTP", d.HTTP)
}
