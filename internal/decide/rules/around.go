package rules

import (
	"context"
	"fmt"

	"cardea.dev"
)

// OnEvents is the decider "rules" on every event: of one that is about no call,
// its fields are what rules see as input.
type OnEvents struct{ *Decider }

// Decide gives the opinions of the rules that name the event.
func (d OnEvents) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil && ev.Sent != nil {
		with := *ev
		with.Call = &cardea.Call{Input: ev.Sent.Fields()}
		ev = &with
	}
	return d.Decider.Decide(ctx, ev)
}

// Around is the decider "rules" for the projects around the call: an agent that
// works in one project and reaches into another meets the rules of both. It only
// tightens.
type Around struct {
	Settings Settings
	// Find finds the rules of each project around a call, and what is wrong with
	// their files. complete is false where the call reaches into more than Limit
	// projects.
	Find  func(ev *cardea.Event) (lists []List, complete bool, broken cardea.Troubles)
	Limit int
}

// Name is "rules", since that is what it is to people.
func (Around) Name() string { return "rules" }

// Decide gives the opinions of the rules of the projects around the call.
func (d Around) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	lists, complete, broken := d.Find(ev)
	var out []cardea.Opinion
	if !complete {
		out = append(out, cardea.Opinion{Decider: "rules", Rule: "surroundings", Effect: cardea.Defer, Part: cardea.WholeCall, Scope: cardea.ScopeBuiltin,
			Reason: fmt.Sprintf("the call reaches into more projects than are looked at (%d), so their rules are not known", d.Limit)})
	}
	for _, list := range lists {
		opinions, err := New(list, d.Settings).Decide(ctx, ev)
		out = append(out, opinions...)
		if err != nil {
			return out, err
		}
	}
	return out, broken.Err()
}
