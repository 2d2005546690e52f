// Package shell models what a shell knows at a point of a line, as sets of possibilities: the
// value of a variable ([Value]), and variables, folder, parameters, functions, aliases and
// options together ([State]).
//
// One value serves both sides of a decision. Its facts are certain on every path of the line:
// allow decisions use them. Its texts are possible: deny and ask decisions use them.
package shell

import (
	"slices"
	"strings"

	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/knowledge"
)

// Value is the set of values that a variable may have, or that an expansion may yield.
type Value struct {
	// Text is the value if Exact holds.
	Text string
	// May are the possible texts, as far as the line shows them, or the elements of a List.
	May []string
	// Found is the search that yields the value, or nil.
	Found *knowledge.Search
	// Presence holds the ways in which the variable may be present.
	Presence Presence
	// Shape holds the certain facts.
	Shape Shape
}

// Presence is a set of the ways in which a variable may be present, one bit each.
type Presence uint8

const (
	// Set: the line sets it.
	Set Presence = 1 << iota
	// Unset: the line unsets it.
	Unset
	// Outside: it has its value from before the line.
	Outside
)

// Shape is a set of facts. Each of them holds for every text that a value may be.
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
	// NoDash: it begins with a digit or a slash, or is empty, and so is not an option.
	NoDash
	// Evaluable: a number, or the value of the user's environment. Arithmetic may evaluate it.
	Evaluable
	// PlainWord: without quotes it becomes exactly one word if blanks split words, and it
	// does not begin with a dash. Allow decisions use both: with this fact, a text such as
	// -exec would not be an option.
	PlainWord
	// OneWordOrNone: without quotes it becomes one word or none if blanks split words. It
	// may begin with a dash.
	OneWordOrNone
	// Process: the number of a process that the line has started, or empty.
	Process
)

// Untouched is the value of a variable that the line does not set.
var Untouched = Value{Presence: Outside}

// Removed is the value of a variable that the line unsets.
var Removed = Value{Presence: Unset}

// Any is an unknown value.
var Any = Value{Presence: Set}

// SomeNumber is an unknown number, or empty.
var SomeNumber = Value{Presence: Set, Shape: Numeric}

// SomeProcess is the value of $!: digits, or nothing.
var SomeProcess = Value{Presence: Set, Shape: Numeric | NoDash | Process}

// SomeEvaluable is a number, or what the variable held before the line.
var SomeEvaluable = Value{Presence: Set, Shape: Evaluable}

// Known returns the value that is certainly text.
func Known(text string) Value { return Value{Text: text, Presence: Set, Shape: Exact} }

// Array returns the value of an array with some elements.
func Array(elements []string) Value {
	return Value{May: elements, Presence: Set, Shape: List}
}

// SomeOf returns an unknown value with the possible texts may.
func SomeOf(may []string) Value { return Value{May: may, Presence: Set} }

// Known reports whether the value is Text.
func (v Value) Known() bool { return v.Shape&Exact != 0 }

// IsArray reports whether the value is an array with the elements May.
func (v Value) IsArray() bool { return v.Shape&List != 0 }

// IsUntouched reports whether the variable certainly has its value from before the line.
func (v Value) IsUntouched() bool { return v.Presence == Outside }

// IsUnset reports whether the line has certainly unset the variable.
func (v Value) IsUnset() bool { return v.Presence == Unset }

// MayBeOutside reports whether the variable may have its value from before the line.
func (v Value) MayBeOutside() bool { return v.Presence&Outside != 0 }

// Has reports whether all of the facts hold.
func (v Value) Has(facts Shape) bool { return v.Shape&facts == facts }

// Texts returns the possible texts of the value, as far as the line shows them.
func (v Value) Texts() []string {
	switch {
	case v.Known():
		return []string{v.Text}
	case v.IsArray():
		return append(v.May[:len(v.May):len(v.May)], strings.Join(v.May, " "))
	}
	return v.May
}

// Numeric reports whether the value is certainly a number or empty.
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

// Evaluable reports whether arithmetic may evaluate the value: it is a number, or the
// value of the user's environment.
func (v Value) Evaluable() bool { return v.IsUntouched() || v.Has(Evaluable) || v.Numeric() }

// Same reports whether two values are the same, apart from their possible texts.
func Same(a, b Value) bool {
	return a.Shape == b.Shape && a.Text == b.Text && a.Found == b.Found && a.Presence == b.Presence &&
		(!a.IsArray() || slices.Equal(a.May, b.May))
}

// MaxTexts is the maximum number of possible texts of a value. Further ones are dropped.
const MaxTexts = 1024

// Join returns the value of a variable that holds one of two values. Of the facts, only
// Numeric and Evaluable stay, if both have them.
func Join(a, b Value) Value {
	if Same(a, b) && slices.Equal(a.May, b.May) {
		return a
	}
	out := Value{Presence: a.Presence | b.Presence}
	switch {
	case a.Numeric() && b.Numeric():
		out.Shape = Numeric
		return out // the number itself is irrelevant
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

// Forget returns an unknown value that may still be the old one.
func (v Value) Forget() Value {
	return Value{May: v.Texts(), Presence: Set | v.Presence}
}
