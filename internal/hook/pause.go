package hook

import (
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ledger"
	"cardea.dev/internal/redact"
	"cardea.dev/internal/session"
	"cardea.dev/internal/state"
)

// Clock returns a time as a person reads it: with the date where that is not today's.
func Clock(t, now time.Time) string {
	form := "15:04"
	if t, now = t.Local(), now.Local(); t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		form = "2006-01-02 15:04"
	}
	return t.Format(form)
}

// Pause switches the gate off in all sessions for a time.
func (d Desk) Pause(length time.Duration) (string, error) {
	now := d.Process.Now().UTC().Truncate(time.Second)
	p := session.Pause{From: now, Until: now.Add(length), By: d.By}
	if err := d.Place.Store.Pause(p); err != nil {
		return "", err
	}
	until := Clock(p.Until, now)
	text := "Cardea is off until " + until + " in all your sessions: it allows nothing and asks nothing, and the harness decides alone. " +
		"Denials of system and organisation, and what protects Cardea itself, still apply.\nTo end it before: cardea enable"
	return text, d.note("GateOff", "Cardea is off until "+until+" in all sessions")
}

// EndPause switches the gate on again in all sessions. ended is false where it was on.
func (d Desk) EndPause() (ended bool, err error) {
	if ended, err = d.Place.Store.EndPause(d.Process.Now()); ended && err == nil {
		err = d.note("GateOn", "Cardea is on again in all sessions")
	}
	return ended, err
}

// Paused returns until when the gate is off in all sessions, as "until 14:05 in all
// sessions, by liam", or "".
func (pl *Place) Paused(now time.Time) string {
	if p, err := pl.Store.Paused(now); err == nil && p != nil {
		return "until " + Clock(p.Until, now) + " in all sessions, by " + Plain(strings.TrimPrefix(p.By, "person:"))
	}
	return ""
}

// note writes what a person did with the gate into the ledger, whatever its levels are.
func (d Desk) note(kind cardea.Kind, text string) error {
	dir, _ := d.Process.ledgerDir(d.Place, d.Loaded.Settings.Ledger)
	key, err := state.LoadKey(d.Place.State)
	if err != nil {
		return err
	}
	s, r, now := d.Loaded.Settings.Ledger, redact.New(), d.Process.Now()
	l, err := ledger.Open(dir, ledger.Options{Key: key, Redactor: r, Levels: ledger.AllLevels(), KeepDays: s.KeepDays, MaxMB: s.MaxMB, Now: d.Process.Now})
	if err != nil {
		return err
	}
	ev := &cardea.Event{Kind: kind, Cwd: d.Process.Dir, Project: d.Place.Project}
	e := ledger.NewEntry(ev, cardea.Verdict{By: d.By}, ledger.Circumstances{Redactor: r, Key: key, Now: now, Version: ThisVersion()})
	e.Tool, e.Input.Text = e.Event, r.Text(text)
	return l.Append(e)
}
