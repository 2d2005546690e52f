// Package shell looks at a command line and says what bash would start, what
// each program is passed, and what is touched: the parts of a call.
//
// Everything in Cardea that looks at a command looks through this package. It
// is sound rather than clever: every program that bash would start itself is
// among the parts, or the line carries an opaque spot that covers it; a word
// called static is what bash passes. Where the parser (mvdan.cc/sh) and bash
// are known to differ, the line is opaque (raw.go).
//
// The stages, a file or two each: limits and raw-text checks (raw.go), parsing
// and walking statements with the state of the line (walk.go, state.go), words
// (word.go, param.go, arith.go), commands and the builtins that change the
// line (call.go, builtin.go), wrappers (wrapper.go, wrappers.go), what a
// program does with its words (knowledge.go), paths (path.go), and what moves
// between parts (flow.go).
package shell
