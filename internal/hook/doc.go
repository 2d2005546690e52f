// Package hook implements the commands that harnesses start: check, and the others that run
// at every call, prompt or redrawn line.
//
// Each run is a process that lives for some milliseconds, so nothing here needs a library
// for command lines or YAML. The commands for people are in package cli. They use the same
// code ([Evaluation]), so "cardea try" shows the verdict that check gives. This package
// decides nothing: it finds the settings, hands an event to the gate, and writes the
// result.
//
// The agent whose call is judged may have written part of what a person reads. Such text
// passes through [Plain], which lets no control, bidi or invisible character reach the
// terminal.
package hook
