package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/logfile"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
	"cardea.dev/internal/hook/daemon"
	"cardea.dev/internal/hook/daemon/web"
	"github.com/spf13/cobra"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	idle      time.Duration
	idleGiven bool
	http, log string
	unit      string
}

// serveCommand returns the command "serve".
func serveCommand(p Process) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve [--idle D] [--http ADDRESS]",
		Short: "answer hooks that run cardea-hook, in one process that stays",
		Long: `Answer the calls of hooks that run cardea-hook instead of cardea, in one process
that stays, so that a call starts no large program. There is one for each user.
cardea-hook finds it by itself, and has cardea answer where there is none: both
decide alike.

It ends with SIGTERM or Ctrl-C when the calls that it has begun are answered, when
its program is replaced by another version, and when no call came for a time. See
docs/daemon.md.

--http answers hooks that a harness sends by HTTP, too, and tells what was decided
(docs/http.md). With it the daemon does not end when it is idle, and starts again
when its program is replaced. --print-unit prints a unit that starts the daemon with
your session: systemd, systemd-socket or launchd.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.idle < 0 {
				return usageOf(c, errors.New("--idle must not be less than nothing"))
			}
			f.idleGiven = c.Flags().Changed("idle")
			if f.unit != "" {
				return printUnit(p, f)
			}
			return serve(p, f)
		},
	}
	fs := inOrder(c)
	fs.DurationVar(&f.idle, "idle", limit.DaemonIdle, "end when no call came for this time; 0 never ends")
	fs.StringVar(&f.http, "http", "", "answer over HTTP at this address of this machine, such as 127.0.0.1:7717; off for none (default: daemon.http in the settings)")
	fs.StringVar(&f.log, "log", "", "the file of the log, - for standard error (default: daemon.log in the state folder)")
	fs.StringVar(&f.unit, "print-unit", "", "print a unit instead: systemd, systemd-socket or launchd")
	return c
}

// growth is how much the daemon's heap may grow before garbage collection, in percent. What
// it holds is small, and a call allocates a fifth of a megabyte.
const growth = 400

// serve runs the daemon, and starts the new program if its own was replaced.
func serve(p Process, f serveFlags) error {
	program, err := daemon.Program()
	if err != nil {
		return err
	}
	log, err := openLog(p, f.log)
	if err != nil {
		return err
	}
	defer log.Close()
	debug.SetGCPercent(growth)
	ctx, stop := untilEnded()
	defer stop()
	counts := web.NewCounts()
	p.Process.Decided = counts.Decided
	stamp := control.StampOf(program)
	s, err := daemon.Open(p.Process, os.Environ(), program)
	if err != nil {
		return notBegun(p, f, log, err)
	}
	w := newSetUpWatch(p, log)
	h, err := openHTTP(p, f, s.Local(), log, counts, w.status)
	if err != nil {
		return notBegun(p, f, log, errors.Join(err, s.Close()))
	}
	if err := serveBoth(ctx, p, f, s, h, w); err != nil {
		return err
	}
	if h != nil && ctx.Err() == nil && control.StampOf(program) != stamp && p.Env("LISTEN_PID") == "" {
		log.Printf("the program was replaced; starting the new one")
		_, err := script.Become(program, os.Args)
		return err
	}
	return nil
}

// serveBoth answers at the socket and over HTTP until one of them ends.
func serveBoth(ctx context.Context, p Process, f serveFlags, s *daemon.Server, h *web.Server, w *setUpWatch) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := w.log
	log.Printf("begins: version %s, process %d", hook.ThisVersion(), os.Getpid())
	var all sync.WaitGroup
	var problem error
	if h != nil {
		remove, err := announce(p, h.Addr())
		if err != nil {
			return notBegun(p, f, log, errors.Join(err, s.Close()))
		}
		defer remove()
		log.Printf("http: listens at %s", h.Addr())
		if !f.idleGiven {
			f.idle = 0
		}
		all.Go(func() {
			defer cancel()
			problem = h.Serve(ctx)
		})
	} else {
		_ = os.Remove(announcement(p)) // left by a daemon that was killed
	}
	sayWhere(p, h, log)
	sayUnfollowed(p, f, h, log)
	all.Go(func() { w.run(ctx) })
	s.Before = func() { cancel(); all.Wait() }
	err := s.Serve(ctx, f.idle)
	if err = errors.Join(err, problem); err != nil {
		log.Printf("ends: %v", err)
		return fmt.Errorf("serve: %w", err)
	}
	log.Printf("ends")
	return nil
}

// sayWhere writes to a terminal where the daemon listens, and where its log is.
func sayWhere(p Process, h *web.Server, log *logfile.Log) {
	if !isTerminal(p.Stderr) {
		return
	}
	where := control.Socket(p.Env)
	if h != nil {
		where += " and http://" + h.Addr()
	}
	screenOn(p.Stderr, p.Env).printf("listens at %s; its log is %s; Ctrl-C ends it\n", where, cmp.Or(log.Path(), "here"))
}
