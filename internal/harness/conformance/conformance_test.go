package conformance

import (
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// The law is written down once more, cell by cell.
func TestPermitted(t *testing.T) {
	all := []Outcome{OwnFlow, Runs, Prompts, Blocked, Stopped}
	may := map[cardea.Effect]string{
		cardea.Abstain: "own flow", cardea.Defer: "own flow", cardea.Allow: "own flow runs", cardea.Ask: "prompts blocked stopped",
		cardea.Deny: "blocked stopped", cardea.Halt: "blocked stopped", cardea.Effect(99): "blocked stopped",
	}
	for effect, words := range may {
		for _, o := range all {
			if got := permitted(cardea.PreToolUse, cardea.Verdict{Effect: effect}, o); got != strings.Contains(words, o.String()) {
				t.Errorf("%s understood as %s: %v", effect, o, got)
			}
			if got := permitted("Stop", cardea.Verdict{Effect: effect}, o); got != (o == OwnFlow || o >= Blocked && effect >= cardea.Deny) {
				t.Errorf("%s of another event understood as %s: %v", effect, o, got)
			}
		}
	}
	if !permitted(cardea.PermissionRequest, cardea.Verdict{Effect: cardea.Ask}, OwnFlow) {
		t.Error("the harness itself is asking")
	}
}

// Every mistake that an adapter can make is found.
func TestCheckFinds(t *testing.T) {
	ev := &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "Bash"}}
	whole := verdict(cardea.Deny, 31)
	cases := []struct {
		name    string
		verdict cardea.Verdict
		answer  harness.Output
		means   Outcome
		found   string
	}{
		{"exit 1", whole, harness.Output{Exit: 1}, Blocked, "exit 1"},
		{"exit 2 in silence", whole, harness.Output{Exit: 2}, Blocked, "needs a reason"},
		{"exit 2 with stdout", whole, harness.Output{Exit: 2, Stdout: []byte("{}\n"), Stderr: []byte("x")}, Blocked, "needs a reason"},
		{"two lines", whole, harness.Output{Stdout: []byte("{}\n{}\n")}, Blocked, "one line"},
		{"no newline", whole, harness.Output{Stdout: []byte("{}")}, Blocked, "one line"},
		{"no object", whole, harness.Output{Stdout: []byte("log\n")}, Blocked, "no JSON object"},
		{"a key twice", whole, harness.Output{Stdout: []byte(`{"a":{"b":1,"b":2}}` + "\n")}, Blocked, "faults"},
		{"no trouble", whole, harness.Output{}, Blocked, "trouble"},
		{"an upgrade", verdict(cardea.Deny, 0), harness.Output{}, Runs, "understood as: runs"},
		{"a rewritten deny", verdict(cardea.Deny, 2), harness.Output{Stdout: []byte(`{"x":"` + markRewrite + `"}` + "\n")}, Blocked, "rewritten"},
		{"no better way", verdict(cardea.Deny, 4), harness.Output{}, Blocked, "better way"},
		{"not rewritten", verdict(cardea.Allow, 2), harness.Output{}, Runs, "as it was"},
		{"a leak", verdict(cardea.Deny, 16), harness.Output{Stdout: []byte(`{"x":"` + markReason + `"}` + "\n")}, Blocked, "withheld"},
		{"no name", verdict(cardea.Deny, 0), harness.Output{Exit: 2, Stderr: []byte(markReason + "\ncardea explain last\n(r)\n")}, Blocked, "who speaks"},
		{"no rule", verdict(cardea.Deny, 0), harness.Output{Exit: 2, Stderr: []byte("Cardea: " + markReason + "\ncardea explain last\n")}, Blocked, "who speaks"},
		{"the name twice", verdict(cardea.Deny, 0), harness.Output{Exit: 2, Stderr: []byte("Cardea: Cardea: " + markReason + "\ncardea explain last\n(r)\n")}, Blocked, "twice"},
		{"the better way twice", verdict(cardea.Deny, 4),
			harness.Output{Exit: 2, Stderr: []byte("Cardea: x\nInstead: better-way\nInstead: better-way\ncardea explain last\n(r)\n")}, Blocked, "better way comes twice"},
		{"no next step", verdict(cardea.Deny, 0), harness.Output{Exit: 2, Stderr: []byte("Cardea: x (r)\n")}, Blocked, "next step comes 0"},
		{"a next step for what runs", verdict(cardea.Allow, 0), harness.Output{Stdout: []byte(`{"x":"cardea explain last"}` + "\n")}, Runs, "next step comes 1"},
		{"all is well", verdict(cardea.Deny, 0), harness.Output{Exit: 2, Stderr: []byte("Cardea: " + markReason + "\nThe person can run: cardea explain last\n(r)\n")}, Blocked, ""},
	}
	for _, c := range cases {
		s := Suite{Outcome: func(*cardea.Event, harness.Output) Outcome { return c.means }}
		err := s.check(ev, c.verdict, c.answer)
		if (err == nil) != (c.found == "") || err != nil && !strings.Contains(err.Error(), c.found) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMutate(t *testing.T) {
	p, err := harness.Read([]byte(`{"a":"x","in":{"b":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range mutate(p.Root(), []string{"in"}) {
		if _, err := harness.Read([]byte(m.text)); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if len(m.text) < 100 {
			seen[m.text] = true
		}
	}
	for _, want := range []string{`{"in":{"b":true}}`, `{"a":7,"in":{"b":true}}`, `{"a":"x","in":{}}`, `{"a":"x","in":{"b":"\u0000"}}`,
		`{"a":"x","in":{"b":true,"B":"x"}}`, `{"A":"x","in":{"b":true}}`, `{"a":"x","in":null}`} {
		if !seen[want] {
			t.Errorf("%s is not tried", want)
		}
	}
}

func TestSameJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{`{"a":1,"b":[2]}`, "{\"b\":[2], \"a\":1}\n", true}, {"", "\n", true}, {"", "{}", false}, {"{", "{", false}, {`{"a":1}`, `{"a":2}`, false}} {
		if sameJSON([]byte(c.a), []byte(c.b)) != c.want {
			t.Errorf("%s, %s", c.a, c.b)
		}
	}
}
