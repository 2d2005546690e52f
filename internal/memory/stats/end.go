package stats

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/memory/ledger"
)

// Ended returns who decided a call in the end: Cardea by its effect and its decider, or another
// reviewer according to facts, the newest first. A fact with the effect Allow and without By means
// that the call ran. The result's effect is Abstain where the end is unknown.
func Ended(effect cardea.Effect, by string, facts []cardea.Review) (end cardea.Review) {
	asked, ran := effect == cardea.Ask, false
	for _, f := range facts {
		asked = asked || f.Effect == cardea.Ask
		switch {
		case f.Effect == cardea.Ask, f.Effect == cardea.Abstain, sameSide(f.Effect, effect) && (f.By == cardea.ByHook || effect >= cardea.Deny): // it is Cardea's
		case f.By == "" && f.Effect == cardea.Allow:
			ran = true
		case end.Effect == cardea.Abstain || end.By == "":
			end = f
		}
	}
	switch {
	case end.Effect != cardea.Abstain:
	case by == answeredInQueue:
		end = cardea.Review{By: cardea.ByPerson, Effect: effect}
	case effect >= cardea.Deny && ran:
		end.Effect = cardea.Allow
	case effect == cardea.Allow || effect >= cardea.Deny:
		end = cardea.Review{By: cardea.ByCardea, Effect: effect}
	case asked && ran:
		end = cardea.Review{By: cardea.ByPerson, Effect: cardea.Allow}
	}
	return end
}

// sameSide reports whether both effects let a call run, or both hold it back.
func sameSide(a, b cardea.Effect) bool {
	return a == cardea.Allow && b == cardea.Allow || a >= cardea.Deny && b >= cardea.Deny
}

// Differs describes how Cardea's effect and the end of a call differ, "" where they agree or the
// end is unknown. After a denial by Cardea, no other reviewer was asked.
func Differs(effect cardea.Effect, end cardea.Review) string {
	said := [...]string{"Cardea was silent", "Cardea allowed", "Cardea was silent", "Cardea asked", "Cardea denied", "Cardea denied"}[effect]
	did := map[bool]string{true: "allowed", false: "blocked"}[end.Effect == cardea.Allow]
	switch {
	case end.By == cardea.ByCardea && effect >= cardea.Deny:
		return said + ", no one else was asked"
	case end.Effect == cardea.Abstain || end.By == cardea.ByCardea || sameSide(effect, end.Effect) || effect < cardea.Ask && end.Effect == cardea.Allow:
		return ""
	case end.By == "" && end.Effect == cardea.Allow:
		return said + ", but the call ran"
	case end.By == cardea.ByPerson:
		did = map[bool]string{true: "said yes", false: "said no"}[end.Effect == cardea.Allow]
	}
	return said + ", " + Who(end.By) + " " + did
}

// Who returns the name of a reviewer for people.
func Who(by string) string {
	names := map[string]string{cardea.ByCardea: "Cardea", cardea.ByList: "a permission list", cardea.ByClassifier: "the classifier", cardea.BySandbox: "the sandbox",
		cardea.ByPerson: "the person", cardea.ByHook: "another hook", cardea.ByHarness: "the harness", cardea.ByNobody: "no one who could be asked"}
	return cmp.Or(names[by], "an unknown reviewer")
}

// Difference is a group of calls that ended differently from Cardea's answer.
type Difference struct {
	What  string `json:"what"`
	Calls int    `json:"calls"`
	// Commands are the most frequent inputs of these calls.
	Commands []Times `json:"commands"`
}

// Times is an input with the number of calls that have it.
type Times struct {
	Text  string `json:"text"`
	Calls int    `json:"calls"`
}

// maxCommands is the largest number of inputs in a difference.
const maxCommands = 5

// ending counts who decided in the end. facts holds the known facts about the end of calls, the
// newest first, until the message before the call is read.
type ending struct {
	decisions Decisions
	facts     map[string][]cardea.Review
	ends      map[string]*Effects
	differs   map[string]map[string]int
	// seen receives each call with its end; nil for none.
	seen func(*ledger.Record, cardea.Review)
}

// Decisions returns a harness's own decisions about the calls of a session, by its id of the call,
// or nil.
type Decisions func(harness, session string) map[string]cardea.Review

// EndOf returns who decided a call in the end. The call is the last one with the given input digest
// that began at or before a time. records are those of its session, the last written first.
func EndOf(records iter.Seq2[ledger.Record, error], at time.Time, digest string, decisions Decisions) (call ledger.Record, end cardea.Review, found bool) {
	c := newCounting(time.UTC, decisions)
	c.seen = func(r *ledger.Record, e cardea.Review) {
		if !found && r.Digest == digest && !r.Time.After(at) {
			call, end, found = *r, e, true
		}
	}
	for r, err := range records {
		if err == nil && !found {
			c.record(r)
		}
	}
	for _, r := range c.shown {
		c.call(r)
	}
	return call, end, found
}

// Calls passes each call with its end to seen, the last one first. The parameters are those of
// [Count].
func Calls(records iter.Seq2[ledger.Record, error], probe string, decisions Decisions, warn func(error), seen func(*ledger.Record, cardea.Review)) {
	c := newCounting(time.UTC, decisions)
	c.seen = seen
	c.all(records, probe, warn)
}

// end counts a call.
func (c *ending) end(r *ledger.Record, ran bool) {
	n, shown := name(r), r.Harness+"\n"+r.Session+"\n"
	facts := c.facts[n]
	if r.Effect != cardea.Allow && r.Effect < cardea.Deny { // a message about a prompt names no call
		facts = append(facts, c.facts[shown]...)
	}
	delete(c.facts, n)
	delete(c.facts, shown)
	if c.decisions != nil && r.Call != "" {
		// The agent can write it, so it never overrides a denial by Cardea.
		if said := c.decisions(r.Harness, r.Session)[r.Call]; said.Effect != cardea.Allow || r.Effect < cardea.Deny {
			facts = append(facts, said)
		}
	}
	if ran {
		facts = append(facts, cardea.Review{Effect: cardea.Allow})
	}
	end := Ended(r.Effect, r.By, facts)
	if c.seen != nil {
		c.seen(r, end)
	}
	entryOf(c.ends, end.By).add(end.Effect)
	if what := Differs(r.Effect, end); what != "" {
		if c.differs[what] == nil {
			c.differs[what] = map[string]int{}
		}
		c.differs[what][r.Text]++
	}
}

// differences returns the calls whose end differs from Cardea's answer, with the most frequent
// inputs.
func (c *ending) differences() []Difference {
	out := []Difference{}
	for what, times := range c.differs {
		d := Difference{What: what}
		for text, n := range times {
			d.Calls, d.Commands = d.Calls+n, append(d.Commands, Times{text, n})
		}
		slices.SortFunc(d.Commands, func(a, b Times) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Text, b.Text)) })
		d.Commands = d.Commands[:min(len(d.Commands), maxCommands)]
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Difference) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.What, b.What)) })
	return out
}
