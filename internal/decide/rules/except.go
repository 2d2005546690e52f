package rules

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// setsVariable reports whether the part sets a variable that one of the globs matches.
func setsVariable(globs []string, p *cardea.Part) bool {
	return slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return oneOf(globs, a.Name) })
}

// excepted reports whether one of the options is certainly given. The agent would choose
// any words that make a rule ignore a part, so the check is as strict as for a rule that
// allows. Each word must be known. The option must be a word of its own before "--", and
// not after an option whose value it could be. No other word may reverse it.
func excepted(flags []string, p *cardea.Part) bool {
	return allSeen(p) && slices.ContainsFunc(flags, func(f string) bool { return stands(f, p) && !gainsaid(f, p) || hasOnly(f, p) })
}

// onlyReads reports whether a part with known words only reads, or asks for help and has no
// other words. After an operand, --help may also be an operand. It ignores redirections.
func onlyReads(p *cardea.Part) bool {
	help := len(p.Argv) == 2 && slices.Contains([]string{"--help", "--version"}, p.Argv[1].Text)
	return allSeen(p) && (help || p.Knowledge == cardea.Complete) && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind != cardea.Read && !a.Redirect && !a.Configured && !help
	})
}

// exactly returns the words of a part, separated by blanks. A control character replaces an
// unknown word, and a blank within a word.
func exactly(p *cardea.Part) string {
	var out []string
	for _, w := range p.Argv {
		if text := strings.ReplaceAll(w.Text, " ", "\x00"); w.Static && !slices.ContainsFunc(p.Wrappers, fromInput) {
			out = append(out, text)
		} else {
			out = append(out, "\x00")
		}
	}
	return strings.Join(out, " ")
}

// allSeen reports whether all words of a part, and all programs that it starts, are known.
func allSeen(p *cardea.Part) bool {
	return len(p.Opaque) == 0 && p.Coverage == cardea.Complete && !slices.ContainsFunc(p.Wrappers, fromInput) &&
		!slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static })
}

// fromInput reports whether a wrapper starts its command with words of its input.
func fromInput(wrapper string) bool {
	return knowledge.StartsOnInput(wrapper) || knowledge.BuildsLines(wrapper)
}

// stands reports whether an option is a word of its own.
func stands(flag string, p *cardea.Part) bool {
	for k := 1; k < len(p.Argv); k++ {
		switch before := p.Argv[k-1].Text; {
		case p.Argv[k].Text == "--":
			return false
		case p.Argv[k].Text == flag && (k == 1 || !strings.HasPrefix(before, "-")):
			return true
		}
	}
	return false
}

// hasOnly reports whether an option is given with a value, as --mode plan for --mode=plan,
// and never with another one.
func hasOnly(flag string, p *cardea.Part) bool {
	name, value, valued := strings.Cut(flag, "=")
	found := false
	for _, o := range p.Options {
		if o.Name != name {
			continue
		}
		if found = valued && o.Static && o.Value == value && (o.Word == 1 || !strings.HasPrefix(p.Argv[o.Word-1].Text, "-")); !found {
			return false
		}
	}
	return found
}

// gainsaid reports whether another word sets or reverses the same option: "--dry-run=none",
// "--no-dry-run".
func gainsaid(flag string, p *cardea.Part) bool {
	name, _, _ := strings.Cut(flag, "=")
	opposite := "--no-" + strings.TrimLeft(name, "-")
	return slices.ContainsFunc(p.Argv[1:], func(w cardea.Word) bool {
		return w.Text != flag && (strings.HasPrefix(w.Text, name) || strings.HasPrefix(w.Text, opposite))
	})
}
