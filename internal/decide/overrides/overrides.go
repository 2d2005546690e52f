// Package overrides applies a person's explicit exceptions: for one command or file, and
// perhaps one role and a time, what built-in rules and the paths of roles say does not
// count, and the override's own effect does.
package overrides

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/pathglob"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/grammar"
)

// Override is one exception.
type Override struct {
	// Role is the role for which it counts, "" for every agent.
	Role string
	// Tool is the canonical name of a tool, "" for every tool.
	Tool string
	// Command are the words from which a command begins, wrappers off. A last "*" is
	// any more words.
	Command []string
	// File is a glob of paths, in the meaning of rules.
	File string
	// Rule is the rule of the pack that protects the gate for which it counts, "" for
	// none of them.
	Rule string
	// Effect is allow, ask or deny.
	Effect cardea.Effect
	// Until is when it ends, zero for never.
	Until time.Time
	// By and At say who made it, and when; Because says why.
	By, Because string
	At          time.Time
	// Scope is whose it is, Source where it stands ("file:line"). Trusted is set where
	// it counts as a whole; of another one only ask and deny do, and take nobody's
	// place.
	Scope   cardea.Scope
	Source  string
	Trusted bool
}

// ID names an override in verdicts: it is made of what the override says.
func (o Override) ID() string {
	until := ""
	if !o.Until.IsZero() {
		until = o.Until.UTC().Format(time.RFC3339)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{o.Role, o.Tool, grammar.Quoted(o.Command), o.File, o.Rule, o.Effect.String(), until}, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Ended reports whether its time is over.
func (o Override) Ended(now time.Time) bool { return !o.Until.IsZero() && !now.Before(o.Until) }

// Settings are what the decider must know of a place.
type Settings struct {
	Overrides []Override
	Home      string
	// Now is the time at which the call is judged.
	Now time.Time
}

// Decider is the decider "overrides".
type Decider struct{ about Settings }

// New makes the decider of a place.
func New(s Settings) Decider { return Decider{s} }

// Name is "overrides".
func (Decider) Name() string { return "overrides" }

// Decide gives the opinions of the overrides that are about a part. The gate lets them
// take the place of what yields to them, so they are asked first.
func (d Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if len(d.about.Overrides) == 0 || ev.Call == nil {
		return nil, nil
	}
	place := pathglob.NewPlace(d.about.Home, ev.Project, runtime.GOOS == "darwin" || runtime.GOOS == "windows")
	var out []cardea.Opinion
	for k := range d.about.Overrides {
		o := &d.about.Overrides[k]
		if o.Ended(d.about.Now) || o.Role != "" && o.Role != ev.Role || o.Tool != "" && o.Tool != ev.Call.Tool || !o.Trusted && o.Effect < cardea.Ask {
			continue
		}
		if o.Effect == cardea.Allow && (ev.Call.OnlyPossible || ev.Call.Unsandboxed || len(ev.Faults)+len(ev.Call.Opaque) > 0) {
			continue
		}
		for i := range ev.Call.Parts {
			if o.Effect == cardea.Allow && len(o.Command) > 0 && !InWork(ev, ev.Call.Parts[i].Dir) {
				continue // the same words do something else in another folder
			}
			if o.isAbout(&ev.Call.Parts[i], place) {
				out = append(out, o.opinion(i))
			}
		}
	}
	return out, nil
}

// InWork reports whether a folder is certainly the project's, or one that the person
// added to the work.
func InWork(ev *cardea.Event, dir string) bool {
	return dir != "" && slices.ContainsFunc(append([]string{ev.Project}, ev.Roots...), func(root string) bool {
		return root != "" && paths.Within(root, dir)
	})
}

func (o *Override) opinion(part int) cardea.Opinion {
	reason := fmt.Sprintf("the override %s says %s", o.ID(), o.Effect)
	if o.Because != "" {
		reason += ": " + o.Because
	}
	return cardea.Opinion{Decider: "overrides", Rule: o.ID(), Effect: o.Effect, Part: part, Scope: o.Scope, Source: o.Source, Reason: reason,
		Withheld: !o.Trusted, Overrides: o.Trusted, OverridesRule: o.Rule}
}

// isAbout reports whether the override is about a part: read strictly where it allows,
// and generously where it asks or denies.
func (o *Override) isAbout(p *cardea.Part, place *pathglob.Place) bool {
	if o.Effect == cardea.Allow {
		return o.allows(p, place)
	}
	if len(o.Command) > 0 && !o.leads(p) {
		return false
	}
	if o.File == "" {
		return true
	}
	g := place.Glob(o.File)
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind != cardea.Network && (!p.Remote || a.Redirect) && g.Touches(place.Name(&a))
	})
}

// words are the override's command without a last "*", and whether it has one.
func (o *Override) words() (words []string, more bool) {
	if n := len(o.Command); n > 0 && o.Command[n-1] == "*" {
		return o.Command[:n-1], true
	}
	return o.Command, false
}

// leads reports whether the part may begin with the command: by its words, or by its
// program and subcommands with options between them.
func (o *Override) leads(p *cardea.Part) bool {
	words, _ := o.words()
	if len(p.Argv) >= len(words) {
		same := true
		for i, w := range words {
			same = same && (p.Argv[i].Text == w || i == 0 && p.Program() == w)
		}
		if same {
			return true
		}
	}
	return len(p.Command) >= len(words) && slices.Equal(p.Command[:len(words)], words) ||
		len(p.UsualCommand) >= len(words) && slices.Equal(p.UsualCommand[:len(words)], words)
}

// allows reports whether the part is certainly what the override names, and nothing
// more: the words as they stand, no option that is not named, nothing that cannot be
// seen, and no file that the shell writes besides.
func (o *Override) allows(p *cardea.Part, place *pathglob.Place) bool {
	if len(p.Opaque) > 0 || p.Coverage != cardea.Complete || p.Elevated || p.Remote || slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Class != cardea.EnvSafe }) {
		return false
	}
	if o.File != "" && !o.covers(p, place) {
		return false
	}
	if len(o.Command) == 0 {
		return len(p.Argv) == 0 && o.File != "" // a file tool
	}
	if o.File == "" && slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.NeedsSeparatePermission() }) {
		return false
	}
	words, more := o.words()
	if len(p.Argv) < len(words) || len(p.Argv) > len(words) && !more {
		return false
	}
	for i, w := range p.Argv {
		switch {
		case !w.Static,
			i < len(words) && w.Text != words[i] && !(i == 0 && (w.Text == "/bin/"+words[0] || w.Text == "/usr/bin/"+words[0])),
			i >= len(words) && strings.HasPrefix(w.Text, "-") && len(w.Text) > 1: // an option that is not named
			return false
		}
	}
	return true
}

// covers reports whether the glob names everything that the part reads or writes.
func (o *Override) covers(p *cardea.Part, place *pathglob.Place) bool {
	g := place.Glob(o.File)
	return len(p.Access) > 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind == cardea.Network || a.Kind == cardea.Unknown || !g.Covers(&a, place)
	})
}
