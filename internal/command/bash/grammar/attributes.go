package grammar

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Attribute is a set of properties of a variable that apply anywhere in the line. They
// are collected before a script is walked, since a loop or a function can make a later
// declaration apply to an earlier command.
type Attribute uint8

const (
	// Integer: an assigned value is evaluated as arithmetic (declare -i, and the shell's
	// own counters).
	Integer Attribute = 1 << iota
	// Listed: an array, for which declare reads text in parentheses as a list and expands it.
	Listed
	// Odd: the value is not always the assigned one: read-only names, associative arrays,
	// case conversion, global declarations in a function.
	Unusual
	// Counted: if the line does arithmetic with an unset variable, zsh makes it an integer
	// (zshparam(1)). Recorded when it happens.
	Counted
	// Fixed: read-only, so that another assignment is an error, which ends more than its
	// own command.
	Fixed
)

// AttributesOf returns the attributes that the options of a declaration give. An option
// that is not a literal may be any.
func AttributesOf(c *syntax.DeclClause) Attribute {
	var t Attribute
	if c.Variant.Value == "readonly" {
		t = Unusual | Fixed
	}
	for _, a := range c.Args {
		if a.Name != nil || a.Value == nil {
			continue
		}
		text := a.Value.Lit()
		switch {
		case text == "" || strings.Contains(text, "\\"):
			t |= Integer | Listed | Unusual | Fixed
		case text[0] == '-' || text[0] == '+':
			t |= optionAttributes(text[1:])
			if valid := map[string]string{"export": "fnp", "readonly": "aAfp"}[c.Variant.Value]; valid != "" && (text[0] == '+' || strings.Trim(text[1:], valid+"-") != "") {
				t |= Unusual // it is an error, which sets nothing
			}
		}
	}
	return t
}

// letterAttributes are the attributes that options give. Any other option gives Odd.
var letterAttributes = map[rune]Attribute{'x': 0, 'i': Integer, 'a': Listed, 'A': Unusual | Listed, 'r': Unusual | Fixed}

// optionAttributes returns the attributes that the letters of one option word give.
func optionAttributes(letters string) (t Attribute) {
	if letters == "-" { // the end of the options
		return 0
	}
	for _, c := range letters {
		of, known := letterAttributes[c]
		if !known {
			of = Unusual
		}
		t |= of
	}
	return t
}
