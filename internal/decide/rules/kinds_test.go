package rules

import (
	"fmt"
	"testing"

	"cardea.dev"
)

// A match does not hold on a part that it does not reach by its program.
func TestReachedParts(t *testing.T) {
	commands := [][]string{{"git"}, {"git", "push"}, {"docker", "compose"}, {"sudo"}, {"sudo", "rm"}, {"/usr/bin/rm"}, {"RM"}, {"npm", "install"}}
	parts := []cardea.Part{
		{CommandFacts: cardea.CommandFacts{Command: []string{"git", "push"}}}, {
			CommandFacts: cardea.CommandFacts{Command: []string{"docker-compose", "up"}, UsualCommand: []string{"docker", "compose", "up"}},
		},
		{ShellFacts: cardea.ShellFacts{Wrappers: []string{"sudo"}}, CommandFacts: cardea.CommandFacts{Command: []string{"rm"}}},
		{ShellFacts: cardea.ShellFacts{Argv: []cardea.Word{{Text: "/bin/RM", Static: true}}}}, {},
		{
			ShellFacts:   cardea.ShellFacts{Assigns: []cardea.Assign{{Name: "AB"}}},
			CommandFacts: cardea.CommandFacts{Command: []string{"git"}, Access: []cardea.Access{{Kind: cardea.Read}, {Kind: cardea.Write, HoldsKey: true}}},
		},
		{
			ShellFacts:   cardea.ShellFacts{Opaque: []cardea.Opaque{{}}},
			CommandFacts: cardea.CommandFacts{Command: []string{"tee"}, Access: []cardea.Access{{Kind: cardea.Write}}},
		},
		{
			ShellFacts:   cardea.ShellFacts{Wrappers: []string{"/usr/bin/env", "SUDO.exe"}},
			CommandFacts: cardea.CommandFacts{Command: []string{"npm", "install"}},
		}, {CommandFacts: cardea.CommandFacts{Command: []string{"gi"}}},
	}
	for _, cmd := range commands {
		for _, m := range []Match{
			{Command: [][]string{cmd}}, {Any: []Match{{Command: [][]string{{"none"}}}, {Command: [][]string{cmd}}}},
			{Access: []cardea.AccessKind{cardea.Write}}, {Any: []Match{{Command: [][]string{cmd}, Env: []string{"A*"}}, {Opaque: true}}},
			{Command: [][]string{cmd}, Any: []Match{{UnknownPath: true}, {Access: []cardea.AccessKind{cardea.Write, cardea.Read}, HoldsKey: true}, {}}},
		} {
			many := make([]cardea.Part, 0, 10*len(parts))
			for range 10 {
				many = append(many, parts...)
			}
			reached, held := compareReached(t, &m, many)
			if held == 0 || reached == len(many) {
				t.Errorf("%v holds on %d of %d parts, and reaches %d", cmd, held, len(many), reached)
			}
		}
	}
}

// compareReached compares a match with parts, all at once and one by one.
func compareReached(t *testing.T, m *Match, parts []cardea.Part) (reached, held int) {
	t.Helper()
	ev := &cardea.Event{Project: "/p", Call: &cardea.Call{Parts: parts, Input: map[string]any{"command": "push it"}}}
	c := &evaluation{d: New(nil, Options{Home: "/h"}), ev: ev, rule: &Rule{}}
	among := map[int]anySet{}
	r := c.reached(m)
	for i := range r.parts {
		if may, reaches := r.at(i); reaches {
			among[i] = may
		}
	}
	for i := range parts {
		may, found := among[i]
		if holds := c.holds(m, i, 1); holds != (found && c.holdsAmong(m, i, 1, may)) {
			t.Errorf("%+v holds on part %d, %v: %v; it reaches it: %v, with %b", m, i, parts[i], holds, found, may)
		} else if holds {
			held++
		}
	}
	return len(among), held
}

// Parts with few kinds of accesses are reached by these, others by their commands. Both
// find all parts on which a match holds.
func TestReachedByAccess(t *testing.T) {
	for _, kinds := range []int{3, 2 * fewKinds} {
		var parts []cardea.Part
		for i := range 8 * kinds {
			p := cardea.Part{
				ShellFacts: cardea.ShellFacts{Text: fmt.Sprint("rm x", i%kinds), Remote: i%5 == 0},
				CommandFacts: cardea.CommandFacts{Command: []string{"rm"}, Access: []cardea.Access{{Kind: cardea.Delete, Path: fmt.Sprintf("/p/x%d/.git",
					i%kinds)}, {Kind: cardea.Read, Path: "/h/y", MetadataOnly: i%3 == 0}}},
			}
			if i%7 == 0 {
				p.Command, p.Wrappers = []string{"git", "push", fmt.Sprint("b", i%kinds)}, []string{"sudo"}
			}
			parts = append(parts, p)
		}
		last := fmt.Sprintf("x%d/.git", kinds-1)
		for _, m := range []Match{
			{Access: []cardea.AccessKind{cardea.Delete}, Paths: []string{"x1/.git"}}, {Paths: []string{last}, Command: [][]string{{"git", "push"}}},
			{Paths: []string{"~/y"}, UnlessMetadata: true}, {Pattern: "x1", Needs: []string{"x1"}},
			{Any: []Match{{Paths: []string{last}}, {Command: [][]string{{"sudo", "git", "push", "b1"}}}, {Field: "command", Pattern: "pull", Needs: []string{"pull"}}}},
			{Any: []Match{{Field: "command", Pattern: "push", Needs: []string{"push"}, Command: [][]string{{"git", "push", "b2"}}}}},
		} {
			if reached, held := compareReached(t, &m, parts); held == 0 || held == len(parts) || reached > len(parts) {
				t.Errorf("%+v holds on %d of %d parts, and reaches %d", m, held, len(parts), reached)
			}
		}
	}
}

// All alternatives are tried, even more than a set has bits for.
func TestManyAlternatives(t *testing.T) {
	var m Match
	for i := range 70 {
		m.Any = append(m.Any, Match{Command: [][]string{{fmt.Sprint("program", i)}}})
	}
	var parts []cardea.Part
	for i := range 80 {
		parts = append(parts, cardea.Part{CommandFacts: cardea.CommandFacts{Command: []string{fmt.Sprint("program", i)}}})
	}
	if _, held := compareReached(t, &m, parts); held != 70 {
		t.Errorf("it holds on %d parts", held)
	}
}
