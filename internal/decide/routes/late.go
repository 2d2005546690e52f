package routes

import (
	"cmp"
	"context"

	"cardea.dev"
)

// Late is the decider "routes" that reads its files at each call.
type Late struct {
	// Find reads the routes, and returns the issues of their files.
	Find func() ([]Route, cardea.Issues)
}

// Name returns "routes".
func (Late) Name() string { return "routes" }

// Decide gives the opinion of the routes.
func (d Late) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	list, issues := d.Find()
	opinions, err := New(list).Decide(ctx, ev)
	err = cmp.Or(err, issues.Err())
	return opinions, err
}
