package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cardea.dev/internal/daemon"
	"cardea.dev/internal/limit"
	"github.com/spf13/cobra"
)

func serveCommand(p Process) *cobra.Command {
	var idle time.Duration
	c := &cobra.Command{
		Use:   "serve [--idle D]",
		Short: "answer hooks that run cardea-hook, in one process that stays",
		Long: `Answer the calls of hooks that run cardea-hook instead of cardea, in one process
that stays, so that a call starts no large program. There is one for each user.
cardea-hook finds it by itself, and has cardea answer where there is none: both
decide alike.

It ends with SIGTERM or Ctrl-C when the calls that it has begun are answered, when
its program is replaced by another version, and when no call came for a time. See
docs/daemon.md.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if idle < 0 {
				return usageOf(c, errors.New("--idle must not be less than nothing"))
			}
			return serve(p, idle)
		},
	}
	c.Flags().DurationVar(&idle, "idle", limit.DaemonIdle, "end when no call came for this time; 0 never ends")
	return c
}

func serve(p Process, idle time.Duration) error {
	program, err := daemon.Program()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := daemon.Open(p.Process, os.Environ(), program)
	if err != nil {
		return err
	}
	return s.Serve(ctx, idle)
}
