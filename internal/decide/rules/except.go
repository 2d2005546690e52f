package rules

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// setsVariable reports whether a variable is set for the part that one of the
// globs names.
func setsVariable(globs []string, p *cardea.Part) bool {
	return slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return oneOf(globs, a.Name) })
}

// excepted reports whether one of the options is given for certain. The agent
// chooses the words, and would choose any that make a rule look away, so this
// is read as strictly as a rule that allows: every word must be what it seems,
// and the option must stand by itself, before "--", behind no other option
// whose value it could be, with nothing said against it elsewhere.
func excepted(flags []string, p *cardea.Part) bool {
	return allSeen(p) && slices.ContainsFunc(flags, func(f string) bool { return stands(f, p) && !gainsaid(f, p) || hasOnly(f, p) })
}

// onlyReads reports whether a part only reads, going by words that are all known, or asks for
// help and has no other words: after an operand, --help may be one as well. Where the shell writes
// what it prints is another matter.
func onlyReads(p *cardea.Part) bool {
	help := len(p.Argv) == 2 && slices.Contains([]string{"--help", "--version"}, p.Argv[1].Text)
	return allSeen(p) && (help || p.Knowledge == cardea.Complete) && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind != cardea.Read && !a.Redirect && !a.Configured && !help
	})
}

// exactly are the words of a part, divided by blanks. What is not known, and a blank within a
// word, is a control character.
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

// allSeen reports whether all words of a part are what they seem, and all is known that it
// starts.
func allSeen(p *cardea.Part) bool {
	return len(p.Opaque) == 0 && p.Coverage == cardea.Complete && !slices.ContainsFunc(p.Wrappers, fromInput) &&
		!slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static })
}

// fromInput reports a wrapper that starts its command with words of its input.
func fromInput(wrapper string) bool {
	return knowledge.StartsOnInput(wrapper) || knowledge.BuildsLines(wrapper)
}

// stands reports whether an option stands as a word of its own.
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

// hasOnly reports whether an option stands with its value after it, --mode plan for --mode=plan,
// and is given no other one.
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

// gainsaid reports whether another word speaks about the same option:
// "--dry-run=none", "--no-dry-run".
func gainsaid(flag string, p *cardea.Part) bool {
	name, _, _ := strings.Cut(flag, "=")
	opposite := "--no-" + strings.TrimLeft(name, "-")
	return slices.ContainsFunc(p.Argv[1:], func(w cardea.Word) bool {
		return w.Text != flag && (strings.HasPrefix(w.Text, name) || strings.HasPrefix(w.Text, opposite))
	})
}
