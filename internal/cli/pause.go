package cli

import (
	"errors"
	"fmt"
	"time"

	"cardea.dev"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/session"
	"github.com/spf13/cobra"
)

// pausing gives disable the flag --for, which switches the gate off in all sessions.
func pausing(p Process, c *cobra.Command) *cobra.Command {
	var length time.Duration
	one := c.RunE
	c.Use, c.Short = "disable --for 1h | --session-id ID", "switch Cardea off for a while, or for a session"
	c.Long = `Switch Cardea off in all your sessions for a while, at most 24 hours, or in one session.
It then allows nothing and asks nothing there. Denials of system and organisation, and
what protects Cardea itself, still apply. The status line shows until when Cardea is off,
and "cardea enable" ends it before. Only a person may do this.`
	c.Example = "  cardea disable --for 1h\n  cardea disable --session-id 0b1c"
	c.Flags().DurationVar(&length, "for", 0, "how long Cardea is off in all sessions: 30m, 8h")
	c.MarkFlagsMutuallyExclusive("for", "session-id")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("for") {
			return pause(p, length)
		}
		err := one(c, args)
		if errors.As(err, new(wrongUsage)) {
			return wrongUsage{withHint{err, "or switch Cardea off in all sessions for a while: \"" + c.CommandPath() + " --for 1h\""}}
		}
		return err
	}
	return cautious(c)
}

func pause(p Process, length time.Duration) error {
	if length < time.Second || length > session.LongestPause {
		return wrongUsage{fmt.Errorf("--for is between 1s and %.0fh (got %s)", session.LongestPause.Hours(), length)}
	}
	d, err := deskHere(p)
	if err != nil {
		return err
	}
	what := "switch Cardea off until " + hook.Clock(p.Now().Add(length), p.Now()) + " in all your sessions"
	if err := p.byPerson(what, func(*screen) {}); err != nil {
		return err
	}
	return p.sayOf(d.Pause(length))
}

// endingPause makes enable end a pause, which needs no person: it lets nothing through.
func endingPause(p Process, c *cobra.Command) *cobra.Command {
	one := c.RunE
	c.Short = "switch Cardea on again"
	c.Long = "End what \"cardea disable --for\" began. " + c.Long
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("session-id") {
			return one(c, args)
		}
		d, err := deskHere(p)
		if err != nil {
			return err
		}
		if ended, err := d.EndPause(); ended || err != nil {
			return p.sayOf("Cardea is on again in all your sessions.", err)
		}
		return one(c, args)
	}
	return c
}

// checkPause reports a time in which the gate is off, or a file about one that is ignored.
func (c *checkup) checkPause(p Process, s site) {
	if _, err := s.Place.Store.Paused(p.Now()); err != nil {
		c.add(cardea.LevelWarning, cardea.CodeIgnored, "", err.Error())
	} else if pause := s.Place.Paused(p.Now()); pause != "" {
		c.add(cardea.LevelWarning, cardea.CodeNoEffect, "run \"cardea enable\" to switch it on", "Cardea is off "+pause)
	}
}
