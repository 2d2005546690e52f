// Package gate lists the deciders of a place in order, each with the reason for
// its place. It is the only package that knows all of them.
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

// Build compiles what is in force into a gate. analyse finds the parts of a
// rewritten call, now is the clock of the trace, or nil.
func Build(l *inforce.Loaded, s Session, analyse func(*cardea.Event) *cardea.Event, now func() time.Time) *cardea.Gate {
	return &cardea.Gate{
		Default:   l.Settings.Default,
		OnError:   l.Settings.OnError,
		Troubles:  l.Troubles(),
		Analyse:   analyse,
		FirstTime: l.Callbacks.Once,
		Now:       now,
		Disabled:  s.Disabled,
		Slots:     slots(l, s, analyse),

		SendsPermissionRequest: s.SendsPermissionRequest, NearAtOnce: s.NearAtOnce, AsksElsewhere: s.AsksElsewhere,
	}
}

// Session is what is known of the session whose call is judged.
type Session struct {
	// ID is the harness's.
	ID string
	// Disabled is set where the person switched the gate off for it, Missing where it
	// needs a role and has none.
	Disabled, Missing bool
	// Doubt is that of [registration.Settings].
	Doubt string
	// At is the time of the call.
	At time.Time
	// LeadMay is that of [registration.Settings].
	LeadMay func(*cardea.Event) bool
	// SendsPermissionRequest, NearAtOnce and AsksElsewhere are those of [cardea.Gate].
	SendsPermissionRequest, NearAtOnce, AsksElsewhere bool
	// Judge is asked about what no rule decides; nil: nobody is.
	Judge *byjudge.Decider
}

// slots lists the deciders in order. None of them may allow whole calls.
func slots(l *inforce.Loaded, s Session, analyse func(*cardea.Event) *cardea.Event) []cardea.Slot {
	all := guards(l, s)
	if l.ReadonlyOff {
		all = slices.DeleteFunc(all, isReadonly)
	}
	// What a person decided about calls like this one, where nobody else has decided.
	all = append(all, cardea.Slot{Decider: l.NearDecider(s.At, analyse), Stage: cardea.StageNear})
	if s.Judge != nil {
		// Where nobody decided, and the harness would prompt: it costs time and money.
		all = append(all, cardea.Slot{Decider: s.Judge, Stage: cardea.StageJudge})
	}
	all[0].Decider = first{all[0].Decider}
	for i := range all {
		if all[i].Possible { // those that decide about files
			all[i].Decider = inWorktrees{all[i].Decider}
		}
	}
	return all
}

// guards lists the deciders that are asked about every call.
func guards(l *inforce.Loaded, s Session) []cardea.Slot {
	about := rules.Settings{Home: l.Where.Dirs.Home, Own: l.Own(), Keys: l.Where.Keys()}
	identity := registration.Settings{Missing: s.Missing, Doubt: s.Doubt, Session: s.ID, LeadMay: s.LeadMay,
		Reads: func(ev *cardea.Event, i int) bool { return l.ReadonlyDecider().Refusal(ev, i) == "" }}
	ofOthers, ofProject := splitRules(l.List)
	ownLists, otherLists := l.PermissionsDecider().Halves()
	policies := l.Policies()
	return []cardea.Slot{
		// First, since it costs nothing: no rule decides about what cannot be seen.
		{Decider: opaque.New(l.Settings.OnError).Except(l.PermissionsDecider().NamesVariables)},
		// Who the agent is, before what it does.
		{Decider: registration.New(identity)},
		// What a person excepts, before what it takes the place of.
		{Decider: l.OverridesDecider(s.At), Possible: true},
		// What does nothing is allowed by itself: it keeps no other part from being allowed.
		{Decider: noeffect.New()},
		// What only reads needs nobody's word. The rules may still ask about it.
		{Decider: l.ReadonlyDecider()},
		// The rules of packs and person, before anything that a project could make slow.
		{Decider: rules.OnEvents{Decider: rules.New(ofOthers, about)}, Events: true, Possible: true},
		// The rules of the project.
		{Decider: rules.OnEvents{Decider: rules.New(ofProject, about)}, Events: true, Possible: true},
		// What the agent's role may read and write.
		{Decider: l.RolesDecider(), Possible: true},
		// What the lists of person and system deny and ask, which are compared with every part.
		{Decider: ownLists, Possible: true},
		// What the project's lists deny and ask, and what all lists allow.
		{Decider: otherLists, Possible: true},
		// Denies and asks of the projects around. Their files are read only when
		// a call reaches there.
		{Decider: rules.Around{Settings: about, Limit: project.MaxSurroundings, Find: l.RulesAround}, Possible: true},
		{Decider: permissions.Around{Settings: l.PermissionSettings(), Limit: project.MaxSurroundings, Find: l.ListsAround}, Possible: true},
		// What a person decided before about exactly this call, after what costs less to find.
		{Decider: l.LessonsDecider(s.At)},
		// Late, since they say which tool is better, and nothing bounds how many files they name.
		{Decider: routes.Late{Find: l.RoutesInForce}, Possible: true},
		// Policies cost most of all that needs nothing else to run.
		{Decider: policies.Plain(), Events: true},
		// Policies that need signals wait for scripts, and are not asked once the
		// call is denied.
		{Decider: policies.WithSignals(), Events: true, Costly: true},
	}
}

func isReadonly(s cardea.Slot) bool {
	_, is := s.Decider.(*readonly.Decider)
	return is
}

// FoundBy are the operands, options and accesses of a part that a rule found, each
// with the condition that did.
func FoundBy(l *inforce.Loaded, ev *cardea.Event, r *rules.Rule, part int) []string {
	return rules.New(nil, rules.Settings{Home: l.Where.Dirs.Home, Own: l.Own()}).FoundIn(ev, r, part)
}

// first is the decider that is asked first, in a new goroutine.
type first struct{ cardea.Decider }

// Decide makes room for all that follow.
func (f first) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	stack.Grow()
	return f.Decider.Decide(ctx, ev)
}

// OfSwitchedOff are the opinions that rules would have about an event if no settings
// had switched them off.
func OfSwitchedOff(ctx context.Context, l *inforce.Loaded, ev *cardea.Event) ([]cardea.Opinion, error) {
	return rules.OnEvents{Decider: rules.New(l.OffList, rules.Settings{Home: l.Where.Dirs.Home, Own: l.Own()})}.Decide(ctx, ev)
}

// splitRules parts the rules of packs and person from those of the project, which
// are the last.
func splitRules(all rules.List) (ofOthers, ofProject rules.List) {
	i := slices.IndexFunc(all, func(e *rules.Entry) bool { return e.Scope() == cardea.ScopeProject })
	if i < 0 {
		return all, nil
	}
	return all[:i:i], all[i:]
}
