package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// TestResult is the outcome of one inline test.
type TestResult struct {
	Rule   string
	Source string
	Test   Test
	// Got is the rule's effect, or "none".
	Got string
	// Problem is the reason why the test failed, "" if it passed.
	Problem string
}

// Stand is the environment of inline tests.
type Stand struct {
	Options
	// Project is the folder of the project, absolute.
	Project string
	// Harness is the harness that sends the calls.
	Harness string
	// Known reports whether a tool is known. If nil, all are.
	Known func(tool string) bool
}

// RunTests runs the inline tests of rules, each rule alone and as if its project were
// trusted. analyse returns the event with the parts of its call.
func RunTests(list []Rule, at Stand, analyse func(*cardea.Event) *cardea.Event) []TestResult {
	var out []TestResult
	for _, r := range list {
		r.Trusted = true
		d := New(ListOf([]Rule{r}), at.Options)
		tests, err := r.Examples()
		if err != nil {
			out = append(out, TestResult{Rule: r.ID, Source: r.Source, Problem: err.Error()})
		}
		out = append(out, lists.Of(tests, func(t Test) TestResult { return runTest(d, &r, t, at, analyse) })...)
	}
	return out
}

// runTest runs a test of rule r, of which d is the decider.
func runTest(d *Decider, r *Rule, t Test, at Stand, analyse func(*cardea.Event) *cardea.Event) TestResult {
	res := TestResult{Rule: r.ID, Source: r.Source, Test: t, Got: "none"}
	ev, err := TestEvent(r, t, at)
	if err != nil {
		res.Problem = err.Error()
		return res
	}
	ev = analyse(ev)
	ops, err := d.Decide(context.Background(), ev)
	if err == nil {
		var potential []cardea.Opinion
		potential, err = ev.PotentialCalls().Opinions(context.Background(), d, ops)
		ops = append(ops, potential...)
	}
	if err != nil {
		res.Problem = err.Error()
		return res
	}
	var told []string
	for _, o := range ops {
		if res.Got == "none" || o.Effect.String() != res.Got {
			res.Got = o.Effect.String()
		}
		told = append(told, o.Reason, o.Advice.Instead, o.Advice.Context)
	}
	if !expected(t.Expect, ops) {
		res.Problem = fmt.Sprintf("expected %s, got %s", t.Expect, res.Got)
	} else if t.Contains != "" && !strings.Contains(strings.Join(told, "\n"), t.Contains) {
		res.Problem = fmt.Sprintf("what the rule tells does not contain %q", t.Contains)
	}
	return res
}

// Meets reports whether an effect of the whole gate is the one that the test expects of the
// rule.
func (t Test) Meets(e cardea.Effect) bool {
	switch t.Expect {
	case "none", "block":
		return (e >= cardea.Deny) == (t.Expect == "block")
	case "pass":
		return e < cardea.Deny
	}
	return e.String() == t.Expect
}

// expected reports whether the opinions are the ones that a test expects.
func expected(expect string, ops []cardea.Opinion) bool {
	top := cardea.Abstain
	for _, o := range ops {
		top = top.JoinOpinion(o.Effect)
	}
	if expect == "none" || len(ops) == 0 {
		return len(ops) == 0 && (expect == "none" || expect == "pass")
	}
	return Test{Expect: expect}.Meets(top)
}

// TestEvent returns the event that a test describes. It fails if the input is not valid
// JSON.
func TestEvent(r *Rule, t Test, at Stand) (*cardea.Event, error) {
	dec := json.NewDecoder(strings.NewReader(t.Input))
	dec.UseNumber()
	var input map[string]any
	if err := dec.Decode(&input); err != nil {
		return nil, fmt.Errorf("read test input: %w", err)
	}
	ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: at.Harness, Mode: cardea.ModeDefault, Role: t.Role,
		Cwd: at.Project, Project: at.Project, Call: &cardea.Call{Tool: t.Tool, Name: t.Tool, Input: input, Known: true}}
	if at.Known != nil {
		ev.Call.Known = at.Known(t.Tool)
	}
	if t.Cwd != "" {
		ev.Cwd = t.Cwd
	}
	switch {
	case t.Event != "":
		ev.Kind = cardea.Kind(t.Event)
	case len(r.Events) > 0 && !r.speaksOn(ev.Kind) && !strings.ContainsAny(r.Events[0], "*?["):
		ev.Kind = cardea.Kind(r.Events[0])
	}
	ev.Wire = string(ev.Kind)
	return ev, nil
}
