package routes

import (
	"cmp"
	"context"

	"cardea.dev"
)

// Late is the decider "routes", which reads its files when it is asked.
type Late struct {
	// Find reads the routes, and tells what is wrong with their files.
	Find func() ([]Route, cardea.Troubles)
}

// Name is "routes".
func (Late) Name() string { return "routes" }

// Decide gives the opinion of the routes.
func (d Late) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	list, troubles := d.Find()
	opinions, err := New(list).Decide(ctx, ev)
	err = cmp.Or(err, troubles.Err())
	return opinions, err
}
