// Package conformance tests the contract of every store of the audit log. A second store, in memory
// or on a socket, then cannot give the same words another meaning. A store's test calls Run.
package conformance

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/ledger"
)

// Clock is the time that a store under test must go by.
type Clock struct{ Time time.Time }

// Now returns the clock's time.
func (c *Clock) Now() time.Time { return c.Time }

// Open gives a new empty store that keeps the levels and goes by the clock.
type Open func(levels ledger.Levels, clock *Clock) (ledger.Store, error)

// Run tests a store.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, p := range Problems(open) {
		t.Error(p)
	}
}

// Problems lists what a store does wrong.
func Problems(open Open) []string {
	c := &checks{open: open}
	for _, check := range []func(){c.roundTrip, c.order, c.queries, c.levels, c.absent, c.badID, c.stops} {
		check()
	}
	return c.problems
}

type checks struct {
	open     Open
	problems []string
	clock    *Clock
}

func (c *checks) fail(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// fresh opens a store; where it cannot, that is the problem, and nothing is
// checked.
func (c *checks) fresh(levels ledger.Levels) ledger.Store {
	c.clock = &Clock{time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)}
	s, err := c.open(levels, c.clock)
	if err != nil {
		c.fail("open: %v", err)
		return nil
	}
	return s
}

// append makes and appends the entry of a command.
func (c *checks) append(s ledger.Store, command string, e cardea.Effect, rule, session string) ledger.Entry {
	ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Session: session, Cwd: "/work/app", Project: "/work/app",
		Mode: cardea.ModeDefault, Role: "tester", Agent: "a1", AgentType: "Explore",
		Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": command}, Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: command}}}}}
	v := cardea.Verdict{Effect: e, By: "rules:" + rule, Reason: "because of " + rule, Instead: "another", Parts: []cardea.Effect{e},
		Opinions: []cardea.Opinion{{Decider: "rules", Rule: rule, Effect: e, Part: 0, Scope: cardea.ScopeUser, Source: "r.yaml:3", Severity: cardea.SeverityHigh, Reason: "because of " + rule},
			{Decider: "null", Effect: cardea.Abstain, Part: cardea.WholeCall, Scope: cardea.ScopeBuiltin}},
		Issues: cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "a trouble")}}
	entry := ledger.NewEntry(ev, v, ledger.Circumstances{Redactor: redact.New(), Key: make([]byte, 32), Now: c.clock.Time, Took: 41 * time.Microsecond, Version: "v1"})
	if err := s.Append(entry); err != nil {
		c.fail("append %q: %v", command, err)
	}
	return entry
}

func (c *checks) search(s ledger.Store, q ledger.Query) []ledger.Line {
	var out []ledger.Line
	for l, err := range s.Search(q) {
		if err != nil {
			c.fail("search %+v: %v", q, err)
			continue
		}
		out = append(out, l)
	}
	return out
}

// roundTrip: what was appended is found again as it was.
func (c *checks) roundTrip() {
	s := c.fresh(ledger.AllLevels())
	if s == nil {
		return
	}
	want := c.append(s, "git push -f", cardea.Deny, "git-force-push", "s1")
	got, err := s.Get(want.ID)
	if err != nil || !got.Genuine || !reflect.DeepEqual(got.Entry, want) {
		c.fail("get: %+v, %v; appended was %+v", got, err, want)
	}
	if found := c.search(s, ledger.Query{}); len(found) != 1 || !reflect.DeepEqual(found[0].Entry, want) {
		c.fail("search found %+v; appended was %+v", found, want)
	}
	if r, err := s.Verify(); err != nil || !r.Intact() || r.Entries != 1 || r.Days != 1 {
		c.fail("verify: %+v, %v", r, err)
	}
}

// order: the last written comes first, over days too.
func (c *checks) order() {
	s := c.fresh(ledger.AllLevels())
	if s == nil {
		return
	}
	var want []string
	for i := range 10 {
		want = append(want, c.append(s, fmt.Sprint("echo ", i), cardea.Allow, "r", "s").ID)
		c.clock.Time = c.clock.Time.Add(time.Hour)
	}
	got := c.search(s, ledger.Query{})
	if len(got) != len(want) {
		c.fail("found %d of %d", len(got), len(want))
		return
	}
	for i := range got {
		if got[i].Entry.ID != want[len(want)-1-i] {
			c.fail("entry %d stands at %d", len(want)-1-i, i)
		}
	}
	if got := c.search(s, ledger.Query{Limit: 3}); len(got) != 3 || got[0].Entry.ID != want[9] {
		c.fail("a limit of 3 gives %d", len(got))
	}
}

// queries: each field of a query narrows the search, and nothing else does.
func (c *checks) queries() {
	s := c.fresh(ledger.AllLevels())
	if s == nil {
		return
	}
	begin := c.clock.Time
	a := c.append(s, "git push -f", cardea.Deny, "git-force-push", "s1").ID
	c.clock.Time = begin.Add(3 * time.Hour)
	b := c.append(s, "Make all", cardea.Allow, "make", "s2").ID
	for _, tt := range []struct {
		name string
		q    ledger.Query
		want []string
	}{
		{"all", ledger.Query{}, []string{b, a}},
		{"since", ledger.Query{Since: begin.Add(time.Hour)}, []string{b}},
		{"since is included", ledger.Query{Since: begin.Add(3 * time.Hour)}, []string{b}},
		{"until", ledger.Query{Until: begin.Add(time.Hour)}, []string{a}},
		{"until is not included", ledger.Query{Until: begin.Add(3 * time.Hour)}, []string{a}},
		{"session", ledger.Query{Session: "s1"}, []string{a}},
		{"a part of a session", ledger.Query{Session: "s"}, nil},
		{"tool", ledger.Query{Tool: "bash"}, []string{b, a}},
		{"another tool", ledger.Query{Tool: "Write"}, nil},
		{"effect", ledger.Query{Effects: []cardea.Effect{cardea.Deny, cardea.Halt}}, []string{a}},
		{"rule", ledger.Query{Rule: "make"}, []string{b}},
		{"rule with decider", ledger.Query{Rule: "rules:make"}, []string{b}},
		{"decider", ledger.Query{Decider: "null"}, []string{b, a}},
		{"another decider", ledger.Query{Decider: "judge"}, nil},
		{"text in the command", ledger.Query{Text: "make ALL"}, []string{b}},
		{"text in the reason", ledger.Query{Text: "because of git"}, []string{a}},
		{"text in the folder", ledger.Query{Text: "/work/APP"}, []string{b, a}},
		{"all of them", ledger.Query{Session: "s1", Tool: "Bash", Rule: "git-force-push", Text: "push", Since: begin}, []string{a}},
	} {
		var got []string
		for _, l := range c.search(s, tt.q) {
			got = append(got, l.Entry.ID)
		}
		if !reflect.DeepEqual(got, tt.want) {
			c.fail("query by %s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// levels checks that verdicts of a level that is switched off are not stored, and all others are.
func (c *checks) levels() {
	for _, tt := range []struct {
		levels ledger.Levels
		stored []cardea.Effect
	}{
		{ledger.Levels{Allow: true}, []cardea.Effect{cardea.Allow}},
		{ledger.Levels{Abstain: true}, []cardea.Effect{cardea.Abstain, cardea.Defer}},
		{ledger.Levels{Deny: true}, []cardea.Effect{cardea.Ask, cardea.Deny, cardea.Halt}},
		{ledger.AllLevels(), cardea.Effects()},
		{ledger.Levels{}, nil},
	} {
		s := c.fresh(tt.levels)
		if s == nil {
			return
		}
		want := map[cardea.Effect]bool{}
		for _, e := range tt.stored {
			want[e] = true
		}
		for _, e := range cardea.Effects() {
			c.append(s, "x", e, "r", "s")
			if s.Keeps(e) != want[e] {
				c.fail("levels %+v: keeps %s is %t", tt.levels, e, s.Keeps(e))
			}
		}
		got := c.search(s, ledger.Query{})
		for _, l := range got {
			if !want[l.Entry.Effect] {
				c.fail("levels %+v: kept %s", tt.levels, l.Entry.Effect)
			}
		}
		if len(got) != len(tt.stored) {
			c.fail("levels %+v: %d entries", tt.levels, len(got))
		}
	}
}

// absent: an empty store is no error, an unknown id is.
func (c *checks) absent() {
	s := c.fresh(ledger.AllLevels())
	if s == nil {
		return
	}
	if got := c.search(s, ledger.Query{}); len(got) != 0 {
		c.fail("an empty store has %d entries", len(got))
	}
	if r, err := s.Verify(); err != nil || !r.Intact() || r.Entries != 0 {
		c.fail("verify of an empty store: %+v, %v", r, err)
	}
	for _, id := range []string{"0jk3v9x2mabc1234", "../../etc/passwd"} {
		if _, err := s.Get(id); err == nil {
			c.fail("get %s gives an entry", id)
		} else if id[0] != '.' && !errors.Is(err, ledger.ErrNoEntry) {
			c.fail("get %s: %v", id, err)
		}
	}
}

// badID: an entry that NewEntry did not make is refused.
func (c *checks) badID() {
	s := c.fresh(ledger.AllLevels())
	if s == nil {
		return
	}
	var issue cardea.Issue
	for _, id := range []string{"", "../../x", "0jk3v9x2mabc123/"} {
		if err := s.Append(ledger.Entry{ID: id}); !errors.As(err, &issue) || issue.Failure != cardea.Unwritten {
			c.fail("append of an entry with the id %q: %v", id, err)
		}
	}
}

// stops: who stops to read gets no more.
func (c *checks) stops() {
	s := c.fresh(ledger.AllLevels())
	if s == nil {
		return
	}
	for range 5 {
		c.append(s, "x", cardea.Allow, "r", "s")
		c.clock.Time = c.clock.Time.Add(12 * time.Hour)
	}
	n := 0
	for range s.Search(ledger.Query{}) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		c.fail("the search went on")
	}
}
