// Package gate lists the deciders of a place in order, each with the reason for its
// position. It is the only package that knows all of them.
package gate

import (
	"context"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/stack"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/byjudge"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/decide/opaque"
	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/decide/readonly"
	"cardea.dev/internal/decide/registration"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
)

// Build returns the gate of a place and session. analyse finds the parts of a rewritten
// call. now is the clock of the trace, or nil.
func Build(l *inforce.Loaded, s SessionFacts, analyse func(*cardea.Event) *cardea.Event, now func() time.Time) *cardea.Gate {
	return &cardea.Gate{
		Default:    l.Settings.Default,
		OnError:    l.Settings.OnError,
		Issues:     l.Issues(),
		Analyse:    analyse,
		FirstTime:  l.Callbacks.Once,
		Now:        now,
		Disabled:   s.Disabled,
		Placements: placements(l, s, analyse),

		SendsPermissionRequest: s.SendsPermissionRequest, NearAtOnce: s.NearAtOnce, AsksElsewhere: s.AsksElsewhere,
	}
}

// SessionFacts holds the facts about the session whose call is judged.
type SessionFacts struct {
	// ID is the harness's session ID.
	ID string
	// Disabled is set if the person switched the gate off for the session, Missing if it needs
	// a role and has none.
	Disabled, Missing bool
	// Doubt has the meaning of [registration.Options].
	Doubt string
	// At is the time of the call.
	At time.Time
	// LeadMay has the meaning of [registration.Options].
	LeadMay func(*cardea.Event) bool
	// SendsPermissionRequest, NearAtOnce and AsksElsewhere have the meaning of [cardea.Gate].
	SendsPermissionRequest, NearAtOnce, AsksElsewhere bool
	// Judge is asked if no rule decides. It may be nil.
	Judge *byjudge.Decider
}

// placements returns the placements of all deciders, in order. None of the deciders may allow
// whole calls.
func placements(l *inforce.Loaded, s SessionFacts, analyse func(*cardea.Event) *cardea.Event) []cardea.Placement {
	all := guards(l, s)
	if l.ReadonlyOff {
		all = slices.DeleteFunc(all, isReadonly)
	}
	// Earlier answers about similar calls, if nothing else has decided.
	all = append(all, cardea.Placement{Decider: l.NearDecider(s.At, analyse), Stage: cardea.StageNear})
	if s.Judge != nil {
		// Only if nothing else has decided and the harness would prompt, since it costs time and
		// money.
		all = append(all, cardea.Placement{Decider: s.Judge, Stage: cardea.StageJudge})
	}
	all[0].Decider = first{all[0].Decider}
	for i := range all {
		if all[i].Potential { // the deciders about files
			all[i].Decider = inWorktrees{all[i].Decider}
		}
	}
	return all
}

// guards returns the placements of the deciders that are asked about every call.
func guards(l *inforce.Loaded, s SessionFacts) []cardea.Placement {
	about := rules.Options{Home: l.Where.Dirs.Home, Own: l.Own(), Keys: l.Where.Keys()}
	identity := registration.Options{Missing: s.Missing, Doubt: s.Doubt, Session: s.ID, LeadMay: s.LeadMay,
		Reads: func(ev *cardea.Event, i int) bool { return l.ReadonlyDecider().Refusal(ev, i) == "" }}
	ofOthers, ofProject := splitRules(l.List)
	ownLists, otherLists := l.PermissionsDecider().Halves()
	policies := l.Policies()
	return []cardea.Placement{
		// First, since it costs nothing: no rule decides about an opaque call.
		{Decider: opaque.New(l.Settings.OnError).Except(l.PermissionsDecider().NamesVariables)},
		// The agent's identity, before its actions.
		{Decider: registration.New(identity)},
		// The person's exceptions, before the rules that they replace.
		{Decider: l.OverridesDecider(s.At), Potential: true},
		// A part without effect is allowed by itself, so it keeps no other part from being allowed.
		{Decider: noeffect.New()},
		// Read-only commands need no rule that allows them. The rules may still ask about them.
		{Decider: l.ReadonlyDecider()},
		// The rules of packs and the person, before anything that a project could make slow.
		{Decider: rules.OnEvents{Decider: rules.New(ofOthers, about)}, Events: true, Potential: true},
		// The rules of the project.
		{Decider: rules.OnEvents{Decider: rules.New(ofProject, about)}, Events: true, Potential: true},
		// The files that the agent's role may read and write.
		{Decider: l.RolesDecider(), Potential: true},
		// Denies and asks of the person's and system's lists, which are compared with every part.
		{Decider: ownLists, Potential: true},
		// Denies and asks of the project's lists, and allows of all lists.
		{Decider: otherLists, Potential: true},
		// Denies and asks of surrounding and other projects. Their files are read only if a call
		// reaches there.
		{Decider: rules.OtherProjects{Settings: about, Limit: project.MaxSurroundings, Find: l.RulesNearby}, Potential: true},
		{Decider: permissions.OtherProjects{Settings: l.PermissionSettings(), Limit: project.MaxSurroundings, Find: l.ListsNearby}, Potential: true},
		// Earlier answers about exactly this call, after everything that costs less to find.
		{Decider: l.LessonsDecider(s.At)},
		// Late, since they say which tool is better, and the number of files that they name has
		// no limit.
		{Decider: routes.Late{Find: l.RoutesInForce}, Potential: true},
		// Policies cost the most of all deciders that start no other program.
		{Decider: policies.Plain(), Events: true},
		// Policies that need signals wait for scripts. They are not asked once the call is denied.
		{Decider: policies.WithSignals(), Events: true, Costly: true},
	}
}

func isReadonly(s cardea.Placement) bool {
	_, is := s.Decider.(*readonly.Decider)
	return is
}

// FoundBy returns the operands, options and accesses of a part that a rule matched, each
// with the condition that matched.
func FoundBy(l *inforce.Loaded, ev *cardea.Event, r *rules.Rule, part int) []string {
	return rules.New(nil, rules.Options{Home: l.Where.Dirs.Home, Own: l.Own()}).FoundIn(ev, r, part)
}

// first wraps the first decider and runs in a new goroutine.
type first struct{ cardea.Decider }

// Decide grows the stack for all following deciders.
func (f first) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	stack.Grow()
	return f.Decider.Decide(ctx, ev)
}

// OfSwitchedOff returns the opinions that switched-off rules would have about an event.
func OfSwitchedOff(ctx context.Context, l *inforce.Loaded, ev *cardea.Event) ([]cardea.Opinion, error) {
	return rules.OnEvents{Decider: rules.New(l.OffList, rules.Options{Home: l.Where.Dirs.Home, Own: l.Own()})}.Decide(ctx, ev)
}

// splitRules separates the rules of packs and the person from those of the project, which
// are last.
func splitRules(all rules.List) (ofOthers, ofProject rules.List) {
	i := slices.IndexFunc(all, func(e *rules.Entry) bool { return e.Scope() == cardea.ScopeProject })
	if i < 0 {
		return all, nil
	}
	return all[:i:i], all[i:]
}
