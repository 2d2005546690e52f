package rego

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"cardea.dev/internal/decide/policy/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// The engine reports about several files what the package reports about each.
func TestEngine(t *testing.T) {
	var e engine.Engine = Engine{}
	if e.Wake(); e.Ready() != nil {
		t.Error("it is not ready")
	}
	files := []engine.Source{
		{Path: "a.rego", Text: head + "package cardea.policies.a\n\nimport rego.v1\n\ndeny contains {\"rule_id\": \"a\", \"reason\": \"b\", \"colour\": 1} if input.x\n"},
		{Path: "a_test.rego", Text: "package a_test\n\nimport rego.v1\n\ntest_a if data.cardea.policies.a.deny with input as {\"x\": 1}\n"},
		{Path: "head.rego", Text: head + "package cardea.policies.b\n\ndeny contains {{{"},
		{Path: "lost.rego", Text: "{{{"},
	}
	ctx := context.Background()
	parsed, err := e.Parse(ctx, files)
	if err != nil || len(parsed) != 4 || !parsed[0].Facts.Policy() || len(parsed[0].Problems) > 0 || parsed[2].Facts.Package != "cardea.policies.b" ||
		len(parsed[2].Problems) == 0 || parsed[2].Lost || !parsed[3].Lost {
		t.Errorf("%+v, %v", parsed, err)
	}
	remarks, err := e.Look(ctx, files)
	if err != nil || len(remarks) == 0 || !strings.Contains(remarks[0].Text, "colour") {
		t.Errorf("%+v, %v", remarks, err)
	}
	given := 0
	out := sound(append(files, engine.Source{
		Path: "clock.rego",
		Text: "package c\n\nx := time.now_ns()\n",
	}), engine.Options{}, func(c *ast.Compiler, _ map[string]any, modules map[string]*ast.Module) ast.Errors {
		given = len(modules)
		c.Compile(modules)
		return c.Errors
	})
	if given != 2 || len(out) != 3 || !strings.Contains(out["clock.rego"].Error(), "policies may not use it") {
		t.Errorf("%d files, %v", given, out)
	}
	p := e.Compile(files, engine.Options{})
	if broken, err := p.Broken(ctx); err != nil || len(broken) != 2 || len(broken["lost.rego"]) == 0 {
		t.Errorf("%v, %v", broken, err)
	}
	for text, says := range map[string]string{`{"x": 1}`: "", `{"x": `: "cannot be read"} {
		got := p.Eval(ctx, []Query{{Package: "cardea.policies.a", Rule: "deny", Input: engine.JSON([]byte(text))}})
		if says == "" && (got[0].Err != nil || len(got[0].Value.([]any)) != 1) || says != "" && (got[0].Err == nil || !strings.Contains(got[0].Err.Error(), says)) {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := broken("x", errors.New("y")); len(got) != 1 || got.Error() != "x: y" {
		t.Errorf("%v", got)
	}
}

// Each number is processed once, and a panic reaches the caller.
func TestEachAtOnce(t *testing.T) {
	var done [100]atomic.Int32
	eachAtOnce(len(done), func(i int) { done[i].Add(1) })
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Errorf("%d is done %d times", i, n)
		}
	}
	eachAtOnce(0, func(int) { t.Error("nothing is done") })
	defer func() {
		if recover() != "oh" {
			t.Error("nobody hears it")
		}
	}()
	eachAtOnce(100, func(i int) { panic("oh") })
}
