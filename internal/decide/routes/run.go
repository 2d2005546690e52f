package routes

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
	Route, Source string
	Test          Test
	// Got is "block" or "allow".
	Got string
	// Problem is the reason why the test failed, "" if it passed.
	Problem string
}

// RunTests runs the inline tests of routes, each route alone. tool is [Origin.Tool].
func RunTests(list []Route, tool func(string) (string, bool)) []TestResult {
	var out []TestResult
	for _, r := range list {
		d := New([]Route{r})
		out = append(out, lists.Of(r.Tests, func(t Test) TestResult { return runTest(d, r, t, tool) })...)
	}
	return out
}

// runTest runs a test of route r, of which d is the decider.
func runTest(d *Decider, r Route, t Test, tool func(string) (string, bool)) TestResult {
	res := TestResult{Route: r.Name, Source: r.Source, Test: t, Got: "allow"}
	call := &cardea.Call{Tool: t.Tool, Name: t.Tool, Known: true}
	if tool != nil {
		if name, ok := tool(t.Tool); ok {
			call.Tool = name
		}
	}
	if err := json.Unmarshal([]byte(t.Input), &call.Input); err != nil {
		res.Problem = fmt.Sprintf("the test's input cannot be read: %v", err)
		return res
	}
	ops, err := d.Decide(context.Background(), &cardea.Event{Kind: cardea.PreToolUse, Call: call})
	if err != nil {
		res.Problem = err.Error()
		return res
	}
	if len(ops) > 0 {
		res.Got = "block"
	}
	want := "allow"
	if t.Block {
		want = "block"
	}
	switch {
	case res.Got != want:
		res.Problem = fmt.Sprintf("expected %s, got %s", want, res.Got)
	case len(ops) > 0 && !strings.Contains(ops[0].Reason, t.Contains):
		res.Problem = fmt.Sprintf("the message does not contain %q", t.Contains)
	}
	return res
}
