package shell

import (
	"slices"
	"strings"

	"cardea.dev"
)

// certainty says with which words it is known everything that a program does.
// A program, or a subcommand, without one may do anything besides what its
// accesses say.
type certainty struct {
	// Any: no option and no operand makes it do more than its accesses say.
	Any bool
	// Flags are the options, with and without values, with which it does no
	// more than its accesses say. Those of a subcommand's program count too.
	Flags []string
	// Numeric lets -5 be an option.
	Numeric bool
	// Most is how many operands there may be, none where it is zero and
	// Limited is set.
	Most    int
	Limited bool
	// Prefix is what each operand must begin with.
	Prefix string
	// Look is the language of the script in the first operand, or in the
	// options Scripts where one is given.
	Look    look
	Scripts []string
}

// sure reports whether it is known everything that the program does with these
// words.
func (r *reader) sure() bool {
	c := r.spec.Certain
	if c == nil || r.spec.Depth > 0 && len(r.spec.Subs) > 0 {
		return false
	}
	if !c.Any && slices.ContainsFunc(r.part.Options, r.unsureOption) {
		return false
	}
	if c.Limited && len(r.operands) > c.Most || !r.sureWords() {
		return false
	}
	for _, i := range r.operands {
		if c.Prefix != "" && !strings.HasPrefix(r.argv[i].Text, c.Prefix) {
			return false
		}
	}
	return c.Look == "" || r.sureScripts()
}

// unsureOption reports an option that is not known to be harmless.
func (r *reader) unsureOption(o cardea.Option) bool {
	if slices.Contains(r.spec.Certain.Flags, o.Name) {
		return false
	}
	if r.spec.Certain.Numeric && len(o.Name) == 2 && '0' <= o.Name[1] && o.Name[1] <= '9' {
		return false
	}
	for _, p := range r.above {
		if p.Certain != nil && slices.Contains(p.Certain.Flags, o.Name) {
			return false
		}
	}
	return true
}

// sureWords reports whether the words that are only known when the line runs
// can be neither options nor other operands than they seem.
func (r *reader) sureWords() bool {
	s := r.spec
	for k, f := range r.argv[1:] {
		if f.Static {
			continue
		}
		harmless := s.Certain.Any && (s.Operands == none || s.Operands == "")
		switch {
		case harmless:
		case f.Dash && !s.Certain.Any:
			return false
		case f.Loose && !f.glob:
			return false // it may be several words, or none
		case f.glob && s.First != "" && len(r.operands) > 0 && r.operands[0] == k+1:
			return false
		}
	}
	return true
}

// sureScripts looks at the programs in the program's words.
func (r *reader) sureScripts() bool {
	c, found := r.spec.Certain, false
	for _, o := range r.part.Options {
		if slices.Contains(c.Scripts, o.Name) {
			if !o.Static || !c.Look.harmless(o.Value) {
				return false
			}
			found = true
		}
	}
	if found {
		return true
	}
	if len(r.operands) == 0 {
		return false
	}
	f := r.argv[r.operands[0]]
	return f.Static && c.Look.harmless(f.Text)
}
