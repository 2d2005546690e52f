// Package cli implements all commands: check for harnesses, and the others for
// people.
//
// Both decide by the same code ([judgement]), so that what try says is what
// check does. Nothing here decides: the commands find the settings, hand an
// event to the gate, and say what came of it.
//
// Two things hold for every command. What a person reads was partly written by
// the agent whose call is judged, so it passes through [Plain], which lets no
// control, bidi or invisible character reach the terminal. And how a command
// can end stands in one table, exit.go, from which the help texts and
// docs/exit-codes.md are made.
package cli
