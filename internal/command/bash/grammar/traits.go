package grammar

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Trait says how bash treats a variable wherever it is in the line. Traits
// are collected before a script is walked, since a loop or a function can make
// a later declaration apply to an earlier command.
type Trait uint8

const (
	// integer: what is assigned is evaluated as arithmetic (declare -i, and
	// the shell's own counters).
	Integer Trait = 1 << iota
	// listed: an array, for which declare reads text in parentheses as a list
	// and expands it.
	Listed
	// odd: the value is not what is assigned, or not always: read-only names,
	// associative arrays, case conversion, global declarations in a function.
	Odd
	// Counted: where the line does arithmetic with a variable that is not set, zsh makes it an
	// integer (zshparam(1)). Noted where it happens.
	Counted
	// fixed: read-only, so that another assignment is an error, which ends
	// more than its own command.
	Fixed
)

// TraitsOf reads the options of a declaration. An option that is not
// written out plainly may be any.
func TraitsOf(c *syntax.DeclClause) Trait {
	var t Trait
	if c.Variant.Value == "readonly" {
		t = Odd | Fixed
	}
	for _, a := range c.Args {
		if a.Name != nil || a.Value == nil {
			continue
		}
		text := a.Value.Lit()
		switch {
		case text == "" || strings.Contains(text, "\\"):
			t |= Integer | Listed | Odd | Fixed
		case text[0] == '-' || text[0] == '+':
			t |= optionTraits(text[1:])
			if valid := map[string]string{"export": "fnp", "readonly": "aAfp"}[c.Variant.Value]; valid != "" && (text[0] == '+' || strings.Trim(text[1:], valid+"-") != "") {
				t |= Odd // it is an error, which sets nothing
			}
		}
	}
	return t
}

// letterTraits are the traits of options. Any other gives Odd.
var letterTraits = map[rune]Trait{'x': 0, 'i': Integer, 'a': Listed, 'A': Odd | Listed, 'r': Odd | Fixed}

func optionTraits(letters string) (t Trait) {
	if letters == "-" { // the end of the options
		return 0
	}
	for _, c := range letters {
		of, known := letterTraits[c]
		if !known {
			of = Odd
		}
		t |= of
	}
	return t
}
