package permissions_test

import (
	"context"
	"fmt"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/harness/permissionlist"
)

// The two halves together have the opinions of the whole, each its own share.
func TestHalves(t *testing.T) {
	mine := stand{deny: []string{"Bash(a:*)", "Read(x)", "WebFetch"}, allow: []string{"Bash(b:*)"}}
	theirs := stand{deny: []string{"Bash(b:*)", "Bash(* y)", "Read(y)", "Bash(a | b)"}, allow: []string{"Bash(c:*)"}, scope: cardea.ScopeProject}
	entries := append(mine.entries(), theirs.entries()...)
	whole := permissions.New(entries, permissions.Options{Expand: true, Home: "/h", Start: project})
	own, others := whole.Halves()
	for _, line := range []string{
		"a",
		"b",
		"c",
		"c y",
		"cat x y",
		"a | b",
		"b x && c",
	} {
		ev := mine.bash(line)
		said := map[string]int{}
		for _, d := range []*permissions.Decider{own, others} {
			ops, err := d.Decide(context.Background(), ev)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range ops {
				if d == own && (o.Scope == cardea.ScopeProject || o.Effect == cardea.Allow) || d == others && o.Scope != cardea.ScopeProject && o.Effect != cardea.Allow {
					t.Errorf("%s: %s is not of this half", line, o.By())
				}
				said[key(o)]++
			}
		}
		ops, _ := whole.Decide(context.Background(), ev)
		for _, o := range ops {
			said[key(o)]--
		}
		for what, n := range said {
			if n != 0 {
				t.Errorf("%s: %s is said %d times too often", line, what, n)
			}
		}
	}
}

// A project's list of any length does not suppress the person's, and no list exceeds its
// time.
func TestLongLists(t *testing.T) {
	s := stand{deny: []string{"Bash(rm:*)"}}
	from := &permissionlist.Origin{Scope: cardea.ScopeProject, File: "p"}
	entries := s.entries()
	for range 20_000 {
		entries = append(entries, permissionlist.Entry{From: from, Effect: cardea.Deny, Rule: permissionlist.Parse("Read(**/a/**/b/**/c)", permissionlist.Context{Effect: cardea.Deny})})
	}
	line := "rm x"
	for range 300 {
		line += "; cat f"
	}
	own, others := permissions.New(entries, permissions.Options{}).Halves()
	ev := s.bash(line)
	if ops, _ := own.Decide(context.Background(), ev); len(ops) != 1 || ops[0].Effect != cardea.Deny {
		t.Errorf("%v", ops)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if ops, _ := others.Decide(ctx, ev); len(ops) > 0 {
		t.Errorf("%v", ops)
	}
}

func key(o cardea.Opinion) string {
	return fmt.Sprintf("%s %s about part %d", o.By(), o.Effect, o.Part)
}
