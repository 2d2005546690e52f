// Package registration restricts an agent that needs a role and has none. Until a person
// registers it, it may only read and ask questions.
package registration

import (
	"context"
	"strings"

	"cardea.dev"
)

// Options configure the decider for a session.
type Options struct {
	// Missing is set if the session needs a role and has none.
	Missing bool
	// Doubt is the reason why the record of the session's role cannot be trusted, or "".
	Doubt string
	// Session is the session's id, for the message to the person.
	Session string
	// Reads reports whether a part only reads or shows data.
	Reads func(ev *cardea.Event, part int) bool
	// LeadMay reports whether a lead may make this call, which registers a session of its
	// team. If nil, no lead may.
	LeadMay func(ev *cardea.Event) bool
}

// LeadRule is the rule that denies agents to register sessions.
const LeadRule = "gate-commands"

// Decider is the decider "sessions".
type Decider struct{ about Options }

// New makes the decider of a session.
func New(s Options) Decider { return Decider{s} }

// Name returns "sessions".
func (Decider) Name() string { return "sessions" }

// Decide denies every part that does more than read. The agent can still ask the person,
// since that is how it gets a role.
func (d Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call != nil && d.about.LeadMay != nil && d.about.LeadMay(ev) {
		return []cardea.Opinion{{Decider: "sessions", Rule: "lead", Part: 0, Scope: cardea.ScopeUser, Overrides: true, OverridesRule: LeadRule,
			Reason: "a lead registers a new session of its team"}}, nil
	}
	if d.about.Doubt != "" && ev.Call != nil {
		// The unknown role may deny anything, even reads.
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

// Message returns the text that tells an agent without a role, and the person, how to
// register the session.
func Message(session string) string {
	return "This session is not registered. It needs a role before it may do more than read. Only the person can give it one, in a terminal of their own:\n\n" +
		"  cardea register --session-id " + shown(session) + " --role ROLE"
}

// shown returns a session's id for a command that a person can copy, or "ID" if it has
// unusual characters.
func shown(session string) string {
	unusual := strings.ContainsFunc(session, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if unusual || session == "" || len(session) > 128 || session[0] == '-' {
		return "ID"
	}
	return session
}
