package permissions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness/permissionlist"
)

// OtherProjects is the decider "permissions" for other projects that the call reaches: folders
// with their own .claude or similar. Only the denials and asks of their lists apply.
type OtherProjects struct {
	Settings Options
	// Find returns the entries of the lists of these folders, and the issues of their
	// files. complete is false if the call reaches into more than Limit folders.
	Find  func(ev *cardea.Event) (entries []permissionlist.Entry, complete bool, broken cardea.Issues)
	Limit int
}

// Name returns "permissions", since users see one decider.
func (OtherProjects) Name() string { return "permissions" }

// Decide returns the denials and asks of the lists of other projects.
func (d OtherProjects) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
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
