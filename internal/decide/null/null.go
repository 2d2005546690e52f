// Package null is the decider that allows parts which do nothing: assignments
// of harmless names, true, test, a cd within the project.
//
// Without it, an allow for `npm test` would not allow `cd web && npm test`,
// since a call is allowed only if every part is. Which parts are null is known
// by the analysis alone; this decider only refuses to believe it where the
// part says something else about itself.
package null

import (
	"context"

	"cardea.dev"
)

// Decider is the decider "null".
type Decider struct{}

// New makes the decider.
func New() Decider { return Decider{} }

// Name is "null".
func (Decider) Name() string { return "null" }

// Decide allows each null part. It never fails.
func (Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil {
		return nil, nil
	}
	var out []cardea.Opinion
	for i := range ev.Call.Parts {
		if nothing(&ev.Call.Parts[i]) {
			out = append(out, cardea.Opinion{Decider: "null", Effect: cardea.Allow, Part: i,
				Scope: cardea.ScopeBuiltin, Reason: "it has no effect"})
		}
	}
	return out, nil
}

// nothing reports whether the part does nothing and hides nothing.
func nothing(p *cardea.Part) bool {
	if !p.Null || len(p.Opaque) > 0 || p.Coverage != cardea.Complete || p.Elevated || p.Remote {
		return false
	}
	for _, a := range p.Access {
		if a.Kind != cardea.Read {
			return false
		}
	}
	for _, a := range p.Assigns {
		if a.Class == cardea.EnvDangerous {
			return false
		}
	}
	return true
}
