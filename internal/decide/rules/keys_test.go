package rules

import (
	"context"
	"fmt"
	"testing"

	"cardea.dev"
)

// Deciders with a shared cache decide like those without. The cache stores no rule of a
// user: such rules come and go, and may be large.
func TestKeys(t *testing.T) {
	table := func(scope cardea.Scope) []Rule {
		var out []Rule
		for i := range 20 {
			out = append(out, Rule{ID: fmt.Sprintf("r%d", i), Scope: scope, Effect: cardea.Deny, Match: Match{Any: []Match{
				{Paths: []string{fmt.Sprintf("**/f%d", i), fmt.Sprintf("~/g%d", i)}}, {Pattern: fmt.Sprintf("secret%d+", i), Needs: []string{"secret"}}}}})
		}
		return out
	}
	builtin := table(cardea.ScopeBuiltin)
	call := func(i int) *cardea.Event {
		text := fmt.Sprintf("cat f%d secret%d", i, i+1)
		return &cardea.Event{Kind: cardea.PreToolUse, Project: "/p", Cwd: "/p", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": text}, Parts: []cardea.Part{
			{
				ShellFacts: cardea.ShellFacts{Text: text},
				CommandFacts: cardea.CommandFacts{Command: []string{"cat"}, Access: []cardea.Access{{Kind: cardea.Read, Path: fmt.Sprintf("/p/f%d", i)},
					{Kind: cardea.Read, Path: fmt.Sprintf("/h%d/g%d", i%2, i+2)}}},
			}}}}
	}
	keys := NewKeys()
	for i := range 60 {
		// Each call unpacks other rules of a person at the addresses of old ones.
		own := table(cardea.ScopeUser)
		own[0].Match.Any[0].Paths = []string{fmt.Sprintf("**/f%d", i%17)}
		list := append(TableOf(builtin), ListOf(own)...)
		if i%3 == 0 {
			ask := cardea.Ask
			list[i%20].effect = &ask
		}
		at := Options{Home: fmt.Sprintf("/h%d", i%2), FoldPaths: i%5 == 0}
		plain, err := New(list, at).Decide(context.Background(), call(i%19))
		at.Keys = keys
		shared, serr := New(list, at).Decide(context.Background(), call(i%19))
		if err != nil || serr != nil || len(plain) < 2 || fmt.Sprint(plain) != fmt.Sprint(shared) {
			t.Fatalf("%d: %v, %v\n%+v\n%+v", i, err, serr, plain, shared)
		}
	}
	if n := len(keys.of); n == 0 || n > 2*2*len(builtin) {
		t.Errorf("%d matches are kept", n)
	}
	for at := range keys.of {
		found := false
		for i := range builtin {
			found = found || at.match == &builtin[i].Match.Any[0]
		}
		if !found {
			t.Errorf("a match is kept that is not in the table: %+v", at.match)
		}
	}
	if n := len(keys.expr.done); n == 0 || n > len(builtin) {
		t.Errorf("%d expressions are kept", n)
	}
}
