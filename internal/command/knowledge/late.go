package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// This file handles options after operands. GNU programs treat them as options, most
// others as operands (getopt(3) of BSD and macOS), so that "head a.txt -n .env" shows
// .env on a Mac. A certain meaning must hold for both.

// late returns why an option after an operand makes the effects of the program
// uncertain, or "" if none does.
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

// swallowed returns why a value that looks like an option makes the effects of the
// program uncertain. An option whose value is not always the next word may leave that
// word as an option. The value of --sort begins with a dash to reverse the order.
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

// plainValue reports whether f names no relevant file: a number, a short word or a
// quoted pattern.
func plainValue(f Word) bool {
	return f.Static && (len(f.Text) <= len("short") && !strings.ContainsAny(f.Text, "./~") || strings.Contains(f.Text, "*") || f.Text == "--")
}
