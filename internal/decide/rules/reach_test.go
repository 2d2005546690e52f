package rules

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"cardea.dev"
)

// Results for kinds of parts from other calls change no opinion. The rules are about
// programs, accesses, variables, fields, flows, opaque spots or nothing. They have each
// effect, switched or not, and the calls have one or more parts.
func TestKnownReaches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(n int) bool { return r.IntN(n) == 0 }
	programs := []string{"git", "rm", "sudo", "npm", "/usr/bin/rm", "RM"}
	match := func() Match {
		var m Match
		if pick(2) {
			m.Command = [][]string{{programs[r.IntN(len(programs))]}, {"git", "push"}}[:1+r.IntN(2)]
		} else if pick(6) {
			m.Command = [][]string{{"docker", "run"}}
		}
		if pick(3) {
			m.Access = []cardea.AccessKind{cardea.Write, cardea.Delete}[:1+r.IntN(2)]
		}
		if pick(3) {
			m.Paths = []string{fmt.Sprintf("**/f%d", r.IntN(3)), "~/g"}[:1+r.IntN(2)]
		}
		m.Opaque, m.UnknownPath, m.AnyProgram = pick(8), pick(8), pick(8)
		if pick(8) {
			m.Env = []string{"A*"}
		}
		if pick(8) {
			m.Flows = []string{"pipe"}
		}
		if pick(6) {
			m.Field, m.Pattern = "command", "x1"
		} else if pick(6) {
			m.Pattern, m.Needs = "x1", []string{"x1"}
		}
		return m
	}
	var table []Rule
	for i := range 80 {
		m := match()
		for range r.IntN(4) {
			m.Any = append(m.Any, match())
		}
		if i%20 == 0 {
			m = Match{Opaque: true}
		}
		table = append(table, Rule{ID: fmt.Sprintf("r%d", i), Scope: cardea.ScopeBuiltin, Effect: []cardea.Effect{cardea.Deny, cardea.Ask, cardea.Allow, cardea.Defer}[r.IntN(4)], Match: m})
	}
	part := func() cardea.Part {
		p := cardea.Part{
			ShellFacts:   cardea.ShellFacts{Text: fmt.Sprint("text x", r.IntN(3)), Remote: pick(8), Coverage: cardea.Complete},
			CommandFacts: cardea.CommandFacts{Command: []string{programs[r.IntN(len(programs))], "push"}[:1+r.IntN(2)]},
		}
		p.Argv = []cardea.Word{{Text: p.Command[0], Static: true}, {Text: "push", Static: true}}[:len(p.Command)]
		if pick(4) {
			p.Wrappers = []string{"sudo", "docker run"}[:1+r.IntN(2)]
		}
		if pick(6) {
			p.ProgramPattern = "g*"
		}
		if pick(6) {
			p.UsualCommand = []string{"git", "push"}
		}
		if pick(5) {
			p.Opaque = []cardea.Opaque{{}}
		}
		if pick(5) {
			p.Assigns = []cardea.Assign{{Name: "AB"}}
		}
		for range r.IntN(3) {
			p.Access = append(p.Access, cardea.Access{Kind: []cardea.AccessKind{cardea.Read, cardea.Write, cardea.Delete}[r.IntN(3)],
				Path: []string{"/p/f0", "/p/a/f1", "/h/g", ""}[r.IntN(4)], Redirect: pick(4)})
		}
		return p
	}
	keys, opinions := NewKeys(), 0
	for i := range 3000 {
		c := &cardea.Call{Tool: "Bash", Input: map[string]any{"command": fmt.Sprint("x", r.IntN(3))}, OnlyPotential: pick(4)}
		for range r.IntN(5) {
			c.Parts = append(c.Parts, part())
		}
		if n := len(c.Parts); n > 1 && pick(2) {
			c.Flows = []cardea.Flow{{From: 0, To: n - 1, Kind: "pipe"}}
		}
		if pick(6) {
			c.Opaque = []cardea.Opaque{{}}
		}
		ev := &cardea.Event{Kind: cardea.PreToolUse, Project: "/p", Cwd: "/p", Call: c}
		list, other := TableOf(table), []cardea.Effect{cardea.Allow, cardea.Deny}[i%2]
		list[i%len(list)].effect = &other
		list = append(list[:i%7], list[i%7+1:]...) // one is switched off
		plain, err := New(list, Options{Home: "/h"}).Decide(context.Background(), ev)
		known, kerr := New(list, Options{Home: "/h", Keys: keys}).Decide(context.Background(), ev)
		if err != nil || kerr != nil || fmt.Sprint(plain) != fmt.Sprint(known) {
			t.Fatalf("%d: %v, %v\n%+v\n%+v\n%+v", i, err, kerr, c, plain, known)
		}
		opinions += len(plain)
	}
	if opinions < 3000 || len(keys.kinds) < 50 || len(keys.kinds) > maxKinds {
		t.Errorf("%d opinions, %d kinds", opinions, len(keys.kinds))
	}
}
