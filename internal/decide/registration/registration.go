// Package registration holds back an agent that needs a role and has none: until a
// person registers it, it may only read and ask.
package registration

import (
	"context"
	"strings"

	"cardea.dev"
)

// Settings are what the decider must know of a session.
type Settings struct {
	// Missing is set where the session needs a role and has none.
	Missing bool
	// Doubt says why the record of the session's role cannot be believed, "" where it can.
	Doubt string
	// Session is its id, for the person.
	Session string
	// Reads reports whether a part does nothing but read, or show something.
	Reads func(ev *cardea.Event, part int) bool
	// LeadMay reports whether the call is that of a lead which registers a session as
	// it may; nil: it is none.
	LeadMay func(ev *cardea.Event) bool
}

// LeadRule is the rule that keeps agents from registering sessions.
const LeadRule = "gate-commands"

// Decider is the decider "sessions".
type Decider struct{ about Settings }

// New makes the decider of a session.
func New(s Settings) Decider { return Decider{s} }

// Name is "sessions".
func (Decider) Name() string { return "sessions" }

// Decide denies every part that does more than read. A question to the person stays
// possible: it is how the agent learns which role it gets.
func (d Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call != nil && d.about.LeadMay != nil && d.about.LeadMay(ev) {
		return []cardea.Opinion{{Decider: "sessions", Rule: "lead", Part: 0, Scope: cardea.ScopeUser, Overrides: true, OverridesRule: LeadRule,
			Reason: "a lead registers a new session of its team"}}, nil
	}
	if d.about.Doubt != "" && ev.Call != nil {
		// The role may have denied anything, reading too.
		o := cardea.Opinion{Decider: "sessions", Rule: "doubt", Effect: cardea.Ask, Part: cardea.WholeCall, Scope: cardea.ScopeBuiltin, Reason: d.about.Doubt}
		if !ev.Attended() {
			o.Effect = cardea.Deny
		}
		return []cardea.Opinion{o}, nil
	}
	if !d.about.Missing || ev.Call == nil || ev.Call.Tool == "AskUserQuestion" {
		return nil, nil
	}
	var out []cardea.Opinion
	for i := range ev.Call.Parts {
		if !ev.Call.Parts[i].NoEffect && !d.about.Reads(ev, i) {
			out = append(out, d.denial(i))
		}
	}
	if len(ev.Call.Parts) == 0 {
		out = append(out, d.denial(cardea.WholeCall))
	}
	return out, nil
}

func (d Decider) denial(part int) cardea.Opinion {
	return cardea.Opinion{Decider: "sessions", Rule: "unregistered", Effect: cardea.Deny, Part: part, Scope: cardea.ScopeBuiltin,
		Reason: Message(d.about.Session)}
}

// Message is what is said to the agent of a session without a role, and to the person.
func Message(session string) string {
	return "This session is not registered. It needs a role before it may do more than read. Only the person can give it one, in a terminal of their own:\n\n" +
		"  cardea register --session-id " + shown(session) + " --role ROLE"
}

// shown is a session's id in a command that a person can copy.
func shown(session string) string {
	odd := strings.ContainsFunc(session, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if odd || session == "" || len(session) > 128 || session[0] == '-' {
		return "ID"
	}
	return session
}
