package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// This file says which command a part begins with, as rules that tighten read it.

// words are how many words a part has that a command may name: the program,
// its subcommands and, since a program that nobody knows has its subcommands
// among them, its operands.
func words(p *cardea.Part) int {
	if len(p.Command) == 0 {
		return len(p.Argv)
	}
	return len(p.Command) + len(p.Operands)
}

// word is the k-th of these words, and whether bash passes exactly that.
func word(p *cardea.Part, k int) (string, bool) {
	if len(p.Command) == 0 {
		w := p.Argv[k]
		if k == 0 {
			return canonical(w.Text), w.Static
		}
		return w.Text, w.Static
	}
	if k < len(p.Command) {
		return p.Command[k], true
	}
	at := p.Operands[k-len(p.Command)]
	if at < 0 || at >= len(p.Argv) {
		return "", false
	}
	return p.Argv[at].Text, p.Argv[at].Static
}

// leads reports whether a part begins with one of the commands, and how many
// of its words that takes at least. The usual name of a command may have more
// words than the line: docker-compose up is docker compose up. A command may
// also begin with a wrapper that stands in front of the part.
func (m *Match) leads(p *cardea.Part) (int, bool) {
	if m.AnyProgram && p.ProgramPattern != "" {
		return m.mayLead(p)
	}
	commands := m.Command
	n, found := leadsAs(commands, p)
	if p.UsualCommand != nil {
		same := *p
		same.Command = p.UsualCommand
		if k, ok := leadsAs(commands, &same); ok {
			if k = max(1, k+len(p.Command)-len(p.UsualCommand)); !found || k < n {
				return k, true
			}
		}
	}
	return n, found
}

// mayLead is leads for a part whose program is only known when it runs: each command
// leads it whose program fits what is known of the name, and whose other words stand
// behind it.
func (m *Match) mayLead(p *cardea.Part) (int, bool) {
	least, found := 0, false
	for _, cmd := range m.Command {
		if n, ok := fitsCommand(cmd, p); ok && (!found || n < least) {
			least, found = n, true
		}
	}
	return least, found
}

// fitsCommand reports whether a command may be that of a part whose program is only
// known when it runs, and how many of its words that takes. Options, each with a value
// at most, may stand between the words.
func fitsCommand(cmd []string, p *cardea.Part) (int, bool) {
	if !paths.MatchName(strings.ToLower(p.ProgramPattern), strings.ToLower(cmd[0])) {
		return 0, false
	}
	k := 1
	for _, want := range cmd[1:] {
		for afterOption := false; ; k++ {
			if k >= len(p.Argv) {
				return 0, false
			}
			w := p.Argv[k]
			if w.Static && w.Text == want {
				break
			}
			option := strings.HasPrefix(w.Text, "-")
			if !option && !afterOption {
				return 0, false
			}
			afterOption = option
		}
		k++
	}
	return k, true
}

func leadsAs(commands [][]string, p *cardea.Part) (int, bool) {
	least, found, program := 0, false, programOf(p)
	for _, cmd := range commands {
		n, ok := len(cmd), leadsWith(cmd, program, p)
		if !ok && len(p.Wrappers) > 0 && wraps(cmd[0], p) {
			n, ok = n-1, leadsWith(cmd[1:], program, p)
		}
		if ok && (!found || n < least) {
			least, found = n, true
		}
	}
	return max(least, 1), found
}

func leadsWith(cmd []string, program string, p *cardea.Part) bool {
	if len(cmd) == 0 {
		return true
	}
	if !sameProgram(program, cmd[0]) || len(cmd) > words(p) {
		return false
	}
	return continues(cmd, p)
}

// continues reports whether the words after the first one are those of the part, for
// certain. The part has as many at least.
func continues(cmd []string, p *cardea.Part) bool {
	for k := 1; k < len(cmd); k++ {
		if got, static := word(p, k); got != cmd[k] || !static {
			return false
		}
	}
	return true
}

// sameProgram reports whether a program's base name is the one that a rule
// names. A file system that ignores case runs GIT for git.
func sameProgram(program, want string) bool {
	// The last letter is that of the base name, and tells most names apart.
	if program != "" && want != "" {
		if a, b := program[len(program)-1], want[len(want)-1]; a < utf8.RuneSelf && b < utf8.RuneSelf && a|0x20 != b|0x20 {
			return false
		}
	}
	if i := strings.LastIndexByte(want, '/'); i >= 0 {
		want = want[i+1:]
	}
	if program == "" || want == "" {
		return program == want
	}
	if a, b := program[0], want[0]; a < utf8.RuneSelf && b < utf8.RuneSelf && a|0x20 != b|0x20 {
		return false
	}
	return strings.EqualFold(program, want)
}

func wraps(name string, p *cardea.Part) bool {
	return slices.ContainsFunc(p.Wrappers, func(w string) bool { return sameProgram(canonical(w), name) })
}
