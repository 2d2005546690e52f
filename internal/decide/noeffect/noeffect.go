// Package noeffect allows parts without an effect of their own: assignments of harmless
// names, true, test, a cd within the project.
//
// Without it, an allow for `npm test` would not allow `cd web && npm test`, since a call is
// allowed only if every part is. Only the analysis determines which parts have no effect.
// This decider rejects its result if other facts about the part contradict it.
package noeffect

import (
	"context"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Decider is the decider "no-effect".
type Decider struct{}

// New makes the decider.
func New() Decider { return Decider{} }

// Name returns "no-effect".
func (Decider) Name() string { return "no-effect" }

// Decide allows each part without effect. If the input has an unknown field, it allows
// nothing, since it is not certain what runs. It never fails.
func (Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil || harness.Unlisted(ev.Harness, ev.Call) != "" {
		return nil, nil
	}
	var out []cardea.Opinion
	for i := range ev.Call.Parts {
		if nothing(&ev.Call.Parts[i]) {
			out = append(out, cardea.Opinion{Decider: "no-effect", Effect: cardea.Allow, Part: i,
				Scope: cardea.ScopeBuiltin, Reason: "it has no effect"})
		}
	}
	return out, nil
}

// nothing reports whether the part has no effect and hides nothing.
func nothing(p *cardea.Part) bool {
	if !p.NoEffect || len(p.Opaque) > 0 || p.Coverage != cardea.Complete || p.Elevated || p.Remote {
		return false
	}
	return !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind != cardea.Read || a.Redirect }) && !slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Class == cardea.EnvDangerous })
}
