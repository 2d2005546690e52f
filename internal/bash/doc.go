// Package bash looks at a command line and says what bash would start, what
// each program is passed, and what is touched: the parts of a call.
//
// Everything in Cardea that looks at a command looks through this package. It
// is sound rather than clever: every program that bash would start itself is
// among the parts, or the line carries an opaque spot that covers it; a word
// called static is what bash passes. Where the parser (mvdan.cc/sh) and bash
// are known to differ, the line is opaque (raw.go).
//
// [Analyse] is all that there is to call: a line and the world around it
// ([Env]) give its parts, its opaque spots and its flows ([Analysis]), in the
// words of the root package. The examples show each of these; docs/analysis.md
// says what a part, a null part and an opaque spot are, and which constructs
// are opaque by decision.
//
// The stages, a file or a few each: limits and raw-text checks (raw.go),
// parsing and walking statements with the state of the line (walk.go,
// compound.go, state.go, forget.go), words (word.go, brace.go, quote.go,
// param.go, arith.go), commands and the builtins that change the line (call.go,
// builtin.go, set.go, cd.go, declare.go, trap.go), wrappers (wrapper.go,
// wrappers.go, container.go, childshell.go), what a program does with its words
// (knowledge.go), paths (path.go), and what moves between parts (flow.go).
//
// The tests run lines in real bash (oracle_test.go) and compare: hand-written
// ones (table_test.go, attacks_test.go), generated ones (generate_test.go),
// spoiled ones (mutate_test.go).
package bash
