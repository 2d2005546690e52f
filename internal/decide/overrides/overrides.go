// Package overrides applies a person's explicit exceptions. An override is for one command
// or file, and may be limited to a role and a time. There its own effect replaces what
// built-in rules and the paths of roles decide.
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
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/pathglob"
)

// Override is one exception.
type Override struct {
	// Role is the role to which it applies, "" for every agent.
	Role string
	// Tool is the canonical name of a tool, "" for every tool.
	Tool string
	// Command is the words with which a command begins, without wrappers. A last "*"
	// matches any further words.
	Command []string
	// File is a glob of paths, as in rules.
	File string
	// Rule is the rule of the gate's protection pack that it overrides, "" for none.
	Rule string
	// Effect is allow, ask or deny.
	Effect cardea.Effect
	// Until is the time when it ends, zero for never.
	Until time.Time
	// By and At are who made it and when. Because is the reason.
	By, Because string
	At          time.Time
	// Scope is the scope of its file, Source its position ("file:line"). If Trusted is
	// false, only ask and deny apply, and replace no other opinion.
	Scope   cardea.Scope
	Source  string
	Trusted bool
}

// ID returns the name of an override in verdicts, a hash of its conditions and effect.
func (o Override) ID() string {
	until := ""
	if !o.Until.IsZero() {
		until = o.Until.UTC().Format(time.RFC3339)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{o.Role, o.Tool, grammar.Quoted(o.Command), o.File, o.Rule, o.Effect.String(), until}, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Ended reports whether the override is over at a time.
func (o Override) Ended(now time.Time) bool { return !o.Until.IsZero() && !now.Before(o.Until) }

// Options configure the decider for a place.
type Options struct {
	Overrides []Override
	Home      string
	// Now is the time of the evaluation.
	Now time.Time
}

// Decider is the decider "overrides".
type Decider struct{ about Options }

// New makes the decider of a place.
func New(s Options) Decider { return Decider{s} }

// Name returns "overrides".
func (Decider) Name() string { return "overrides" }

// Decide returns the opinions of the overrides about each part. The gate asks it first,
// since its opinions replace those that yield to them.
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
		if o.Effect == cardea.Allow && (ev.Call.OnlyPotential || ev.Call.Unsandboxed || len(ev.Faults)+len(ev.Call.Opaque) > 0) {
			continue
		}
		for i := range ev.Call.Parts {
			if o.Effect == cardea.Allow && len(o.Command) > 0 && !InWork(ev, ev.Call.Parts[i].Dir) {
				continue // the same words may have another effect in another folder
			}
			if o.isAbout(&ev.Call.Parts[i], place) {
				out = append(out, o.opinion(i))
			}
		}
	}
	return out, nil
}

// InWork reports whether a folder is certainly in the project, or in one that the person
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

// isAbout reports whether the override is about a part. It matches strictly for allow, and
// broadly for ask and deny.
func (o *Override) isAbout(p *cardea.Part, place *pathglob.Base) bool {
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

// words returns the override's command without a last "*", and whether it has one.
func (o *Override) words() (words []string, more bool) {
	if n := len(o.Command); n > 0 && o.Command[n-1] == "*" {
		return o.Command[:n-1], true
	}
	return o.Command, false
}

// leads reports whether a part may begin with the command: by its words, or by program and
// subcommands with options in between.
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

// allows reports whether a part certainly is what the override names, and no more. It needs
// the exact words. An option that is not named, an opaque spot, or another file that the
// shell writes is no match.
func (o *Override) allows(p *cardea.Part, place *pathglob.Base) bool {
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

// covers reports whether the glob matches every path that the part reads or writes.
func (o *Override) covers(p *cardea.Part, place *pathglob.Base) bool {
	g := place.Glob(o.File)
	return len(p.Access) > 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind == cardea.Network || a.Kind == cardea.Unknown || !g.Covers(&a, place)
	})
}
