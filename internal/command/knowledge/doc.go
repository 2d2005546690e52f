// Package knowledge describes what a program does with its words: the files and hosts it
// touches, which words are options and operands, and whether that is complete.
//
// The knowledge of programs is data: packs/commands/*.yaml, from which the table in
// programs_gen.go is generated. Only languages inside the words of some programs (sed,
// awk, jq) have code of their own.
//
// [Describe] turns an [Invocation] (a program and its words, as bash passes them) into
// its [Meaning]. It runs nothing and queries the machine only through [System]. A word
// whose value is unknown until the line runs makes the meaning uncertain, never smaller.
package knowledge

//go:generate go run ./gen
