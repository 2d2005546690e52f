// Package cli implements the commands for people.
//
// They use the same code as the hook (package hook), so "cardea try" shows the verdict that
// check gives.
//
// Two rules hold for every command. The agent whose call is judged may have written part of
// what a person reads. Such text passes through [Plain], which lets no control, bidi or
// invisible character reach the terminal. And one table, exit.go, defines how each command
// can end. The help texts and docs/exit-codes.md are made from it.
package cli
