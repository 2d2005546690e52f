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

// doubt is why it is not known everything that the program does with these
// words, "" where it is.
func (r *reader) doubt() string {
	c, name := r.spec.Certain, strings.Join(r.part.Command, " ")
	switch {
	case r.spec.Depth > 0 && len(r.spec.Subs) > 0:
		return "nothing certain is known of " + name
	case c == nil:
		return name + " may do more than read"
	}
	if !c.Any {
		for _, o := range r.part.Options {
			if r.unsureOption(o) {
				return "with " + o.Name + ", " + name + " may do more than read"
			}
		}
	}
	if c.Limited && len(r.operands) > c.Most {
		return "with these operands, " + name + " may do more than read"
	}
	if f := r.unsureWord(); f != "" {
		return "what " + f + " becomes is not known"
	}
	for _, i := range r.operands {
		if !strings.HasPrefix(r.argv[i].Text, c.Prefix) {
			return r.argv[i].Text + " does not begin with " + c.Prefix
		}
	}
	if c.Look != "" && !r.sureScripts() {
		return "its script may do more than compute and print"
	}
	return ""
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

// unsureWord is a word that is only known when the line runs and may then be an
// option, or another operand than it seems; "" where there is none.
func (r *reader) unsureWord() string {
	s := r.spec
	for k, f := range r.argv[1:] {
		if f.Static || s.Certain.Any && (s.Operands == none || s.Operands == "") {
			continue
		}
		first := s.First != "" && len(r.operands) > 0 && r.operands[0] == k+1
		if f.Dash && !s.Certain.Any || f.Loose && !f.glob || f.glob && first {
			return f.Text
		}
	}
	return ""
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
