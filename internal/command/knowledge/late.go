package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// This file is about options behind operands. Programs of GNU take them for
// options there, most others for operands (getopt(3) of BSD and macOS), so that
// "head a.txt -n .env" shows .env on a Mac. What is certain must be so for both.

// late is why an option behind an operand makes it uncertain what the program
// does, "" where it does not.
func (r *reader) late() string {
	s := r.spec
	if s.OptionsAfterOperands || s.OperandsBeforeOptions || len(r.operands) == 0 {
		return ""
	}
	first := r.operands[0]
	front := "put options in front of operands: on some systems, what stands behind is one"
	options := map[int]bool{}
	for _, o := range r.out.Options {
		options[o.Word] = true
		switch {
		case o.Word < first:
		case s.Operands == form.Edit || s.Operands == cardea.Write || s.Operands == cardea.Delete,
			s.Complete.ScriptLanguage != "" && slices.Contains(s.FirstOperandUnless, o.Name),
			slices.ContainsFunc(s.When, func(c form.When) bool { return slices.Contains(c.Options, o.Name) }):
			return front
		}
	}
	if s.Operands != cardea.Read && s.Operands != form.Metadata {
		return ""
	}
	for i := first + 1; i < len(r.argv); i++ {
		if !options[i] && !slices.Contains(r.operands, i) && !plainValue(r.argv[i]) {
			return front
		}
	}
	return ""
}

// swallowed is why a value that looks like an option makes it uncertain what the
// program does: where an option's value is not always taken from the next word,
// it is an option. That of --sort begins with a dash to turn the order.
func (r *reader) swallowed() string {
	if r.spec.OperandsBeforeOptions {
		return ""
	}
	for _, o := range r.out.Options {
		i := o.Word + 1
		if o.Name == "--sort" || i >= len(r.argv) || !o.Static || o.Value == "" || r.argv[i].Text != o.Value || r.argv[o.Word].Text == o.Name+"="+o.Value {
			continue
		}
		if len(o.Value) > 1 && o.Value[0] == '-' && (o.Value[1] == '-' || isLetter(o.Value[1])) {
			return o.Value + " may be an option: write " + o.Name + "=" + o.Value
		}
	}
	return ""
}

// plainValue reports words that name no file of interest: numbers, short words
// and quoted patterns.
func plainValue(f Word) bool {
	return f.Static && (len(f.Text) <= len("short") && !strings.ContainsAny(f.Text, "./~") || strings.Contains(f.Text, "*") || f.Text == "--")
}
