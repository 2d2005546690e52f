// Package shell models what a shell knows at a point of a line, as sets of possibilities:
// the value of a variable ([Value]), and variables, folder, parameters, functions, aliases
// and options together ([State]).
//
// The same value serves both sides of a decision. Its facts hold for certain, whichever way
// the line takes: allows rest on them. Its texts are what it may be: denies and questions
// rest on them.
package shell

import (
	"slices"
	"strings"

	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/knowledge"
)

// Value holds what a variable may hold, or what an expansion may give.
type Value struct {
	// Text is the value where it is Exact.
	Text string
	// May are the texts that it may be, as far as the line tells, or the elements of a
	// List.
	May []string
	// Found is the search that finds the names which the value may be, nil for others.
	Found *knowledge.Search
	// Presence says in which ways it may be there.
	Presence Presence
	// Shape holds the facts that are certain.
	Shape Shape
}

// Presence says in which ways a variable may be there: one bit for each.
type Presence uint8

const (
	// Set: the line sets it.
	Set Presence = 1 << iota
	// Unset: the line unsets it.
	Unset
	// Outside: it is as it was before the line.
	Outside
)

// Shape is a set of facts, each of which holds for every text that a value may be.
type Shape uint16

const (
	// Exact: the value is Text.
	Exact Shape = 1 << iota
	// Listed: the value is one of May, and nothing else.
	Listed
	// List: it is an array whose elements are May.
	List
	// Numeric: an integer or empty.
	Numeric
	// NonEmpty: not empty.
	NonEmpty
	// NoDash: it begins with a digit or a slash, or is empty, and so is no option.
	NoDash
	// Evaluable: a number, or what the person's environment holds. Arithmetic may
	// evaluate it.
	Evaluable
	// PlainWord: without quotes it becomes exactly one word where blanks split words, and it
	// does not begin with a dash. Words are built on both: with this fact, a text such as
	// -exec would pass as no option.
	PlainWord
	// OneWordOrNone: without quotes it becomes one word or none where blanks split words. It
	// may begin with a dash.
	OneWordOrNone
	// Process: the number of a process that the line has started, or empty.
	Process
)

// Untouched is the value of a variable that the line does not set.
var Untouched = Value{Presence: Outside}

// Removed is the value of a variable that the line unsets.
var Removed = Value{Presence: Unset}

// Any is a value of which nothing is known.
var Any = Value{Presence: Set}

// SomeNumber is an unknown number, or empty.
var SomeNumber = Value{Presence: Set, Shape: Numeric}

// SomeProcess is the value of $!: digits, or nothing.
var SomeProcess = Value{Presence: Set, Shape: Numeric | NoDash | Process}

// SomeEvaluable is a number, or what the variable held before the line.
var SomeEvaluable = Value{Presence: Set, Shape: Evaluable}

// Known returns the value that is a text for certain.
func Known(text string) Value { return Value{Text: text, Presence: Set, Shape: Exact} }

// Array returns the value of an array with some elements.
func Array(elements []string) Value {
	return Value{May: elements, Presence: Set, Shape: List}
}

// SomeOf returns a value that may be one of some texts, and any other.
func SomeOf(may []string) Value { return Value{May: may, Presence: Set} }

// Known reports whether the value is Text.
func (v Value) Known() bool { return v.Shape&Exact != 0 }

// IsArray reports whether the value is an array with the elements May.
func (v Value) IsArray() bool { return v.Shape&List != 0 }

// IsUntouched reports whether the variable is as it was before the line for certain.
func (v Value) IsUntouched() bool { return v.Presence == Outside }

// IsUnset reports whether the line has unset the variable for certain.
func (v Value) IsUnset() bool { return v.Presence == Unset }

// MayBeOutside reports whether the variable may hold what it held before the line.
func (v Value) MayBeOutside() bool { return v.Presence&Outside != 0 }

// Has reports whether all of some facts hold.
func (v Value) Has(facts Shape) bool { return v.Shape&facts == facts }

// Texts returns what the value may be, as far as the line tells.
func (v Value) Texts() []string {
	switch {
	case v.Known():
		return []string{v.Text}
	case v.IsArray():
		return append(v.May[:len(v.May):len(v.May)], strings.Join(v.May, " "))
	}
	return v.May
}

// Numeric reports whether the value is a number or nothing, for certain.
func (v Value) Numeric() bool {
	number := func(s string) bool { return s == "" || texts.PlainNumber(s) }
	switch {
	case v.IsUnset():
		return true
	case v.Known():
		return number(v.Text)
	case v.IsArray():
		return !slices.ContainsFunc(v.May, func(s string) bool { return !number(s) })
	}
	return v.Has(Numeric)
}

// Evaluable reports whether arithmetic may evaluate the value: it is a number, or what the
// person's environment holds.
func (v Value) Evaluable() bool { return v.IsUntouched() || v.Has(Evaluable) || v.Numeric() }

// Same reports whether two values are the same in all but the texts that they may be.
func Same(a, b Value) bool {
	return a.Shape == b.Shape && a.Text == b.Text && a.Found == b.Found && a.Presence == b.Presence &&
		(!a.IsArray() || slices.Equal(a.May, b.May))
}

// MaxTexts is how many texts a value may be. Those beyond it are forgotten.
const MaxTexts = 1024

// Join returns the value of a variable that holds one of two values. Of the facts only
// Numeric and Evaluable stay, where both have them.
func Join(a, b Value) Value {
	if Same(a, b) && slices.Equal(a.May, b.May) {
		return a
	}
	out := Value{Presence: a.Presence | b.Presence}
	switch {
	case a.Numeric() && b.Numeric():
		out.Shape = Numeric
		return out // which number it is leads nowhere
	case a.Evaluable() && b.Evaluable():
		out.Shape = Evaluable
	}
	for _, v := range [2]Value{a, b} {
		for _, text := range v.Texts() {
			if len(out.May) < MaxTexts && !slices.Contains(out.May, text) {
				out.May = append(out.May, text)
			}
		}
	}
	return out
}

// Forget returns a value that may be anything, also what it was.
func (v Value) Forget() Value {
	return Value{May: v.Texts(), Presence: Set | v.Presence}
}
