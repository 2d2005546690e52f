// Package opaque decides about the parts that the analysis could not understand. No rule
// decides about those.
//
// It has no verdicts of its own. The failure table of package cardea holds the effect of an
// opaque spot, so only the setting on_error changes it.
package opaque

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
)

// Decider is the decider "opaque".
type Decider struct {
	onError cardea.OnError
	named   func(ev *cardea.Event, part int) bool
}

// New returns the decider. onError is the setting on_error.
func New(onError cardea.OnError) *Decider { return &Decider{onError: onError} }

// Except ignores the parts for which named is true: a person allowed them together with the
// variables that they set.
func (d *Decider) Except(named func(ev *cardea.Event, part int) bool) *Decider {
	d.named = named
	return d
}

// Name returns "opaque".
func (*Decider) Name() string { return "opaque" }

// Decide returns an opinion about each part with opaque spots or partial coverage. It
// returns one about the whole call if spots belong to no part, or the message has defects.
// It never fails.
func (d *Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil {
		return nil, nil
	}
	var out []cardea.Opinion
	say := func(spots []cardea.Opaque, otherwise cardea.Failure, rule string, part int, reason string) {
		f := otherwise
		if slices.ContainsFunc(spots, func(o cardea.Opaque) bool { return o.Code.Limit() }) {
			f = cardea.BeyondLimit
		}
		if e := f.Effect(d.onError, ev.Attended()); e != cardea.Abstain {
			out = append(out, cardea.Opinion{Decider: "opaque", Rule: rule, Effect: e, Part: part,
				Scope: cardea.ScopeBuiltin, Reason: reason})
		}
	}
	if len(ev.Faults) > 0 {
		say(ev.Faults, cardea.UnreadInput, "input", cardea.WholeCall, "the tool input cannot be read with certainty: "+listed(ev.Faults))
	}
	if len(ev.Call.Opaque) > 0 {
		say(ev.Call.Opaque, cardea.Unparsed, "call", cardea.WholeCall, "the call cannot be seen through: "+listed(ev.Call.Opaque))
	}
	for i, p := range ev.Call.Parts {
		switch {
		case len(p.Opaque) > 0 && d.named != nil && d.named(ev, i):
		case len(p.Opaque) > 0:
			say(p.Opaque, cardea.Unparsed, "part", i, fmt.Sprintf("%s cannot be seen through: %s", quote(p.Text), listed(p.Opaque)))
		case p.Coverage != cardea.Complete:
			say(nil, cardea.Unparsed, "coverage", i, fmt.Sprintf("%s may start programs that the analysis does not see", quote(p.Text)))
		}
	}
	return out, nil
}

// listed describes the first three spots, with the reason why each is opaque.
func listed(all []cardea.Opaque) string {
	const shown = 3
	var said []string
	for i, o := range all {
		if i == shown {
			said = append(said, fmt.Sprintf("and %d more", len(all)-shown))
			break
		}
		switch {
		case o.Text == "":
			said = append(said, o.Reason)
		case o.Reason == "":
			said = append(said, quote(o.Text))
		default:
			said = append(said, quote(o.Text)+": "+o.Reason)
		}
	}
	return strings.Join(said, "; ")
}

// quote returns text in quotes for a message, at most 80 characters, with control
// characters escaped.
func quote(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
