package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// This file finds the words that may become an option that the line does not show: a
// pattern next to a file named -o.envrc, and the input of xargs. Such a word may be any
// option of the program.

// unseenOptions adds the words that may become any option of the program, and the
// accesses of such an option.
func (r *reader) unseenOptions() {
	if Has(form.HarmlessOptions, r.out.Command[0]) || !r.hasAccessByOption() {
		return
	}
	for i := 1; i < len(r.argv) && (r.ended == 0 || i < r.ended); i++ {
		f := &r.argv[i]
		if r.spec.FirstOperand == cardea.Execute && len(r.operands) > 0 && i > r.operands[0] {
			break // the words of a script
		}
		switch {
		case f.Static || f.Process || f.Outside && !mayBeginOption(f) || !f.MayBeOption && !strings.HasPrefix(f.Head, "-") || r.spellsOption(f) || r.isValue(i):
		case f.Listed && !mayBeginOption(f):
		case f.Found != nil || r.fitsPlainNames(f):
			r.out.UnseenIfMade = append(r.out.UnseenIfMade, i)
		default:
			r.out.Unseen = append(r.out.Unseen, i)
		}
	}
	if len(r.out.Unseen)+len(r.out.UnseenIfMade) == 0 {
		return
	}
	for _, a := range r.spec.OptionAccesses {
		for _, k := range []cardea.AccessKind{cardea.Write, cardea.Execute} {
			one := cardea.Access{Kind: k}
			if (a.Access == k || a.Access == form.Edit && k == cardea.Write) && !slices.Contains(r.out.ByOption, one) {
				r.out.ByOption = append(r.out.ByOption, one)
			}
		}
	}
}

// mayBeginOption reports whether a possible text of f begins with a dash.
func mayBeginOption(f *Word) bool {
	return slices.ContainsFunc(f.May, func(text string) bool { return strings.HasPrefix(text, "-") })
}

// hasAccessByOption reports whether an option of the program may have effects that its
// operands do not have. It returns false for a program that may do anything.
func (r *reader) hasAccessByOption() bool {
	some := func(p *form.Program) bool {
		return len(p.OptionAccesses)+len(p.When) > 0 || p.Complete != nil && !p.Complete.AnyWords
	}
	return some(r.spec) || slices.ContainsFunc(r.above, some) ||
		Has(form.NamedOptions, r.out.Command[0]) || Has(form.NeedsExactEntry, r.out.Command[0]) || Has(form.NeedsExactLetters, r.out.Command[0])
}

// spellsOption reports whether f is an option whose name the line shows, though its
// value is only known when the line runs.
func (r *reader) spellsOption(f *Word) bool {
	if strings.HasPrefix(f.Head, "--") || r.spec.SingleDashOptions {
		return strings.HasPrefix(f.Head, "-") && strings.Contains(f.Head, "=")
	}
	return len(f.Head) > 1 && f.Head[0] == '-' && strings.ContainsFunc(f.Head[1:], func(c rune) bool {
		return slices.Contains(r.spec.AttachedValueOptions, "-"+string(c)) || slices.Contains(r.values(), "-"+string(c))
	})
}

// isValue reports whether the word at i is the value of the option before it, whatever
// it begins with.
func (r *reader) isValue(i int) bool {
	return !r.argv[i].MaySplit && !slices.Contains(r.operands, i) && slices.ContainsFunc(r.out.Options, func(o cardea.Option) bool {
		return o.Word == i-1 && o.Value == r.argv[i].Text && slices.Contains(r.values(), o.Name)
	})
}

// fitsPlainNames reports whether f is a pattern in a folder where no name begins with a
// dash now.
func (r *reader) fitsPlainNames(f *Word) bool {
	if !f.PlainPattern() || strings.HasPrefix(f.Text, "-") || r.paths.Dir == "" || r.system == nil || r.system.Names == nil {
		return false
	}
	names, ok := r.system.Names(r.paths.Dir)
	return ok && !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") })
}
