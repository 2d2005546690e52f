package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// This file finds the command with which a part begins, for rules that tighten.

// words returns the number of words of a part that a command may name: the program, its
// subcommands and its operands. An unknown program has its subcommands among its operands.
func words(p *cardea.Part) int {
	if len(p.Command) == 0 {
		return len(p.Argv)
	}
	return len(p.Command) + len(p.Operands)
}

// word returns the k-th of these words, and whether bash passes exactly this text.
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

// leads reports whether a part begins with one of the commands, and the least number of its
// words that this takes. The usual name of a command may have more words than the line:
// docker-compose up is docker compose up. A command may also begin with a wrapper of the
// part.
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

// mayLead is leads for a part whose program is unknown before it runs. A command leads the
// part if its program fits what is known of the name, and its other words follow.
func (m *Match) mayLead(p *cardea.Part) (int, bool) {
	least, found := 0, false
	for _, cmd := range m.Command {
		if n, ok := fitsCommand(cmd, p); ok && (!found || n < least) {
			least, found = n, true
		}
	}
	return least, found
}

// fitsCommand reports whether a part with an unknown program may begin with a command, and
// the number of its words that this takes. Options, each with at most one value, may be
// between the words.
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

// leadsAs reports whether a part begins with one of the commands, and the least number of
// words that this takes.
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

// continues reports whether the words after the first one certainly are those of the part.
// The part must have at least as many.
func continues(cmd []string, p *cardea.Part) bool {
	for k := 1; k < len(cmd); k++ {
		if got, static := word(p, k); got != cmd[k] || !static {
			return false
		}
	}
	return true
}

// sameProgram reports whether a program's base name is the one in a rule. It ignores case,
// since a file system that ignores case runs GIT for git.
func sameProgram(program, want string) bool {
	// The last letter is always part of the base name, and differs for most names.
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
