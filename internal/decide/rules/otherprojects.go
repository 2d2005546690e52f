package rules

import (
	"context"
	"fmt"

	"cardea.dev"
)

// OnEvents is the decider "rules" for all events. For an event without a call, rules see
// its fields as input.
type OnEvents struct{ *Decider }

// Decide returns the opinions of the rules that name the event.
func (d OnEvents) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil && ev.Sent != nil {
		ev = ev.With(func(e *cardea.Event) { e.Call = &cardea.Call{Input: e.Sent.Fields()} })
	}
	return d.Decider.Decide(ctx, ev)
}

// OtherProjects is the decider "rules" for other projects that the call reaches. An agent that
// works in one project and reaches into another is subject to the rules of both. It only
// tightens.
type OtherProjects struct {
	Settings Options
	// Find returns the rules of each of these projects, and the issues of their files.
	// complete is false if the call reaches into more than Limit projects.
	Find  func(ev *cardea.Event) (lists []List, complete bool, broken cardea.Issues)
	Limit int
}

// Name returns "rules", since users see one decider.
func (OtherProjects) Name() string { return "rules" }

// Decide returns the opinions of the rules of other projects.
func (d OtherProjects) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
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
