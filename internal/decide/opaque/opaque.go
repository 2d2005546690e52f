// Package opaque speaks about what the analysis could not understand: no rule
// decides about that.
//
// It gives no verdict of its own. What an opaque spot costs stands in the
// failure table of package cardea, so that the setting on_error alone changes
// it.
package opaque

import (
	"context"
	"fmt"
	"strings"

	"cardea.dev"
)

// Decider is the decider "opaque".
type Decider struct{ onError cardea.OnError }

// New makes the decider. onError is the setting on_error.
func New(onError cardea.OnError) *Decider { return &Decider{onError} }

// Name is "opaque".
func (*Decider) Name() string { return "opaque" }

// Decide speaks about every part with opaque spots or partial coverage, and
// about the whole call where spots belong to no part or the message itself
// could not be read with certainty. It never fails.
func (d *Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil {
		return nil, nil
	}
	var out []cardea.Opinion
	say := func(f cardea.Failure, rule string, part int, reason string) {
		if e := f.Effect(d.onError, ev.Attended()); e != cardea.Abstain {
			out = append(out, cardea.Opinion{Decider: "opaque", Rule: rule, Effect: e, Part: part,
				Scope: cardea.ScopeBuiltin, Reason: reason})
		}
	}
	if len(ev.Faults) > 0 {
		say(cardea.UnreadInput, "input", cardea.WholeCall, "the tool input cannot be read with certainty: "+spots(ev.Faults))
	}
	if len(ev.Call.Opaque) > 0 {
		say(cardea.Unparsed, "call", cardea.WholeCall, "the call cannot be seen through: "+spots(ev.Call.Opaque))
	}
	for i, p := range ev.Call.Parts {
		switch {
		case len(p.Opaque) > 0:
			say(cardea.Unparsed, "part", i, fmt.Sprintf("%s cannot be seen through: %s", quote(p.Text), spots(p.Opaque)))
		case p.Coverage != cardea.Complete:
			say(cardea.Unparsed, "coverage", i, fmt.Sprintf("%s may start programs that the analysis does not see", quote(p.Text)))
		}
	}
	return out, nil
}

// spots names the first few spots and why each is opaque.
func spots(all []cardea.Opaque) string {
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

// quote shortens text for a message and shows its control characters.
func quote(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
