package rules

import (
	"testing"

	"cardea.dev"
)

// A part that a match does not reach by its program is one on which it does not hold.
func TestReachedParts(t *testing.T) {
	commands := [][]string{{"git"}, {"git", "push"}, {"docker", "compose"}, {"sudo"}, {"sudo", "rm"}, {"/usr/bin/rm"}, {"RM"}, {"npm", "install"}}
	parts := []cardea.Part{
		{Command: []string{"git", "push"}}, {Command: []string{"docker-compose", "up"}, UsualCommand: []string{"docker", "compose", "up"}},
		{Command: []string{"rm"}, Wrappers: []string{"sudo"}}, {Argv: []cardea.Word{{Text: "/bin/RM", Static: true}}}, {},
		{Command: []string{"git"}, Access: []cardea.Access{{Kind: cardea.Read}, {Kind: cardea.Write, HoldsKey: true}}, Assigns: []cardea.Assign{{Name: "AB"}}},
		{Command: []string{"tee"}, Access: []cardea.Access{{Kind: cardea.Write}}, Opaque: []cardea.Opaque{{}}},
		{Command: []string{"npm", "install"}, Wrappers: []string{"/usr/bin/env", "SUDO.exe"}}, {Command: []string{"gi"}},
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
			c := &call{d: New(nil, Settings{}), ev: &cardea.Event{Call: &cardea.Call{Parts: many}}, rule: &Rule{}}
			reached := map[int]bool{}
			for i := range c.reached(&m) {
				reached[i] = true
			}
			held := 0
			for i := range many {
				if holds := c.holds(&m, i, 1); holds && !reached[i] {
					t.Errorf("%v holds on part %d, %v, and does not reach it", cmd, i, many[i])
				} else if holds {
					held++
				}
			}
			if held == 0 || len(reached) == len(many) {
				t.Errorf("%v holds on %d of %d parts, and reaches %d", cmd, held, len(many), len(reached))
			}
		}
	}
}
