package noeffect_test

import (
	"context"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/noeffect"
)

func TestNull(t *testing.T) {
	harmless := cardea.Part{ShellFacts: cardea.ShellFacts{Text: "true", NoEffect: true, Coverage: cardea.Complete}}
	with := func(change func(*cardea.Part)) cardea.Part { p := harmless; change(&p); return p }
	for _, c := range []struct {
		name string
		part cardea.Part
		want bool
	}{
		{"no-effect", harmless, true},
		{"no null part", with(func(p *cardea.Part) { p.NoEffect = false }), false},
		{"opaque", with(func(p *cardea.Part) { p.Opaque = []cardea.Opaque{{Text: "$x"}} }), false},
		{"partial", with(func(p *cardea.Part) { p.Coverage = cardea.Partial }), false},
		{"elevated", with(func(p *cardea.Part) { p.Elevated = true }), false},
		{"remote", with(func(p *cardea.Part) { p.Remote = true }), false},
		{"test reads", with(func(p *cardea.Part) { p.Access = []cardea.Access{{Kind: cardea.Read}} }), true},
		{"true > file", with(func(p *cardea.Part) { p.Access = []cardea.Access{{Kind: cardea.Write, Redirect: true}} }), false},
		{"true < file", with(func(p *cardea.Part) { p.Access = []cardea.Access{{Kind: cardea.Read, Redirect: true}} }), false},
		{"PATH=x true", with(func(p *cardea.Part) {
			p.Assigns = []cardea.Assign{{Name: "PATH", Class: cardea.EnvDangerous}}
		}), false},
	} {
		// The part before it makes a wrong index visible.
		ev := &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: "ls"}}, c.part}}}
		d := noeffect.New()
		ops, err := d.Decide(context.Background(), ev)
		if err != nil {
			t.Fatal(err)
		}
		if !c.want {
			if len(ops) != 0 {
				t.Errorf("%s: %+v", c.name, ops)
			}
			continue
		}
		if len(ops) != 1 || ops[0].Part != 1 || ops[0].Effect != cardea.Allow || ops[0].Decider != d.Name() {
			t.Errorf("%s: %+v", c.name, ops)
		}
	}
}

func TestNoCall(t *testing.T) {
	if ops, err := noeffect.New().Decide(context.Background(), &cardea.Event{Kind: "Stop"}); len(ops) != 0 || err != nil {
		t.Errorf("%+v, %v", ops, err)
	}
}
