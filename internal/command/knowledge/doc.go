// Package knowledge says what a program does with its words: which files and
// hosts it touches, which of its words are options and operands, and whether
// that is surely all.
//
// What is known of programs is data: packs/commands/*.yaml, from which the table
// in programs_gen.go is generated. Only the languages that stand in the words of
// some programs (sed, awk, jq) have code of their own.
//
// [Describe] turns an [Invocation] (a program and its words, as bash passes
// them) into its [Meaning]. It runs nothing and asks the machine only through
// [World]. A word whose value is not known until the line runs makes the meaning
// uncertain; it never makes it smaller.
package knowledge

//go:generate go run ./gen
