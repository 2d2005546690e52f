// Package cli implements the commands of people.
//
// They decide by the same code as the hook (package hook), so that what try says is
// what check does.
//
// Two things hold for every command. What a person reads was partly written by
// the agent whose call is judged, so it passes through [Plain], which lets no
// control, bidi or invisible character reach the terminal. And how a command
// can end stands in one table, exit.go, from which the help texts and
// docs/exit-codes.md are made.
package cli
