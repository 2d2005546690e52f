package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
)

// fragment is a piece of a word after expansion.
type fragment struct {
	shell.Value      // what it is
	quoted      bool // it is neither split nor matched against files
	split       bool // it is the result of an unquoted expansion
	several     bool // it may be several fields, or none, even when quoted
	kind        fragmentKind
}

type fragmentKind uint8

const (
	someText fragmentKind = iota
	fieldEnd              // a field ends here ("$@", "${a[@]}")
	noField               // an empty list ("$@" without parameters): alone it leaves no field, even in quotes
)

// unquoted returns a fragment of plain text.
func unquoted(text string) fragment { return fragment{Value: shell.Known(text)} }

// quotedLiteral returns a text that a quote protects.
func quotedLiteral(text string) fragment {
	return fragment{Value: shell.Known(text), quoted: true}
}

// expanded returns the text of an unquoted expansion.
func expanded(text string) fragment { return fragment{Value: shell.Known(text), split: true} }

// unsure returns an unknown text with some facts.
func unsure(facts shell.Shape, may ...string) fragment {
	return fragment{Value: shell.Value{May: may, Presence: shell.Set, Shape: facts}}
}

// unsureQuoted returns an unknown text in quotes with some facts.
func unsureQuoted(facts shell.Shape, may ...string) fragment {
	f := unsure(facts, may...)
	f.quoted = true
	return f
}

// severalUnknown returns any number of unknown fields, also in quotes.
func severalUnknown() fragment {
	f := unsure(0)
	f.several = true
	return f
}

// unknown reports whether the fragment is a text that is unknown.
func (f *fragment) unknown() bool { return f.kind == someText && !f.Known() }

// mayBeEmpty reports whether an unknown text may be empty, as a variable that is unset is.
func (f *fragment) mayBeEmpty() bool {
	return f.Shape&(shell.NonEmpty|shell.NoDash|shell.PlainWord|shell.Listed) == 0
}

// isNumber reports whether an unknown text is certainly a number or empty.
func (f *fragment) isNumber() bool {
	return f.Numeric() || f.Has(shell.Evaluable) || f.Has(shell.Listed) && !slices.ContainsFunc(f.May, func(text string) bool { return !texts.PlainNumber(text) })
}

// unescape returns the fragments of an unquoted literal.
func unescape(text string) []fragment {
	pieces := texts.Unescape(text)
	if len(pieces) == 0 {
		return nil
	}
	out := make([]fragment, len(pieces))
	for i, p := range pieces {
		out[i] = fragment{Value: shell.Known(p.Text), quoted: p.Quoted}
	}
	return out
}

func sglQuoted(p *syntax.SglQuoted) fragment {
	if !p.Dollar {
		return quotedLiteral(p.Value)
	}
	text, ok := texts.ANSIC(p.Value)
	if !ok {
		return unsureQuoted(0, text)
	}
	return quotedLiteral(text)
}

// unsplit makes expansions unknown next to a literal dollar: bash does not split such a word.
func unsplit(list []fragment) []fragment {
	dollar := slices.ContainsFunc(list, func(f fragment) bool {
		return !f.quoted && !f.split && f.Known() && strings.Contains(f.Text, "$")
	})
	for i := range list {
		if f := &list[i]; dollar && f.split {
			f.Shape &^= shell.Exact
		}
	}
	return list
}

// severalFields reports whether fragments may be several fields, or none, even when quoted.
func severalFields(list []fragment) bool {
	return slices.ContainsFunc(list, func(f fragment) bool { return f.several || f.kind != someText })
}

// concatenated returns the value of fragments that are joined without splitting.
func concatenated(list []fragment) shell.Value {
	if len(list) == 1 && list[0].unknown() {
		switch f := &list[0]; {
		case f.Has(shell.Numeric|shell.NonEmpty) || f.Has(shell.NoDash|shell.OneWordOrNone):
			return shell.SomeNumber
		case f.Has(shell.Numeric | shell.NoDash):
			return shell.Value{Presence: shell.Set, Shape: f.Shape & (shell.Numeric | shell.NoDash | shell.Process)}
		}
	}
	var b strings.Builder
	for _, f := range list {
		if f.kind == fieldEnd || f.unknown() {
			return shell.Any
		}
		b.WriteString(f.Text)
		if b.Len() > texts.MaxText {
			return shell.Any
		}
	}
	return shell.Known(b.String())
}

// mayJoin returns the texts that fragments may form together, or nil if the line shows
// none. Unknown fragments are left out.
func (w *words) mayJoin(list []fragment) []string {
	if !slices.ContainsFunc(list, func(f fragment) bool { return f.unknown() && len(f.May) > 0 }) {
		return nil
	}
	out := []string{""}
	for _, f := range list {
		switch {
		case f.kind == fieldEnd:
			out = w.joined(out, []string{" "})
		case f.unknown():
			out = w.joined(out, f.May)
		default:
			out = w.joined(out, []string{f.Text})
		}
	}
	return out
}

// optional returns fragments, each of which may be present or not.
func optional(list []fragment) []fragment {
	out := slices.Clone(list)
	for i, f := range out {
		if f.kind != fieldEnd && !f.unknown() {
			out[i].Value = shell.SomeOf([]string{f.Text})
		}
	}
	return out
}
