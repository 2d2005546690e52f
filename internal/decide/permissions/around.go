package permissions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness/permissionlist"
)

// Around is the decider "permissions" for the folders around the call, with
// .claude or the like: what their lists deny and ask counts where the call
// reaches there. It only tightens.
type Around struct {
	Settings Settings
	// Find finds the entries of the lists around a call, and what is wrong with
	// their files. complete is false where the call reaches into more than Limit
	// folders.
	Find  func(ev *cardea.Event) (entries []permissionlist.Entry, complete bool, broken cardea.Troubles)
	Limit int
}

// Name is "permissions", since that is what it is to people.
func (Around) Name() string { return "permissions" }

// Decide gives the opinions of the denies and asks around the call.
func (d Around) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	entries, complete, broken := d.Find(ev)
	if !complete {
		return []cardea.Opinion{{Decider: "permissions", Rule: "surroundings", Effect: cardea.Defer, Part: cardea.WholeCall, Scope: cardea.ScopeBuiltin,
			Reason: fmt.Sprintf("the call reaches into more folders with lists than are looked at (%d)", d.Limit)}}, nil
	}
	strict := slices.DeleteFunc(entries, func(e permissionlist.Entry) bool { return e.Effect == cardea.Allow })
	opinions, err := New(strict, d.Settings).Decide(ctx, ev)
	err = cmp.Or(err, broken.Err())
	return opinions, err
}
