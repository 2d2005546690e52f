// Package bash reads a command line as bash does and returns what bash would start, and
// with which words: the parts of a call.
//
// All analysis of commands in Cardea uses this package. It is sound rather than clever.
// Every program that bash would start itself is among the parts, or an opaque spot of
// the line covers it. A static word is exactly what bash passes. Where the parser
// (mvdan.cc/sh) and bash are known to differ, the line is opaque (package grammar).
//
// [Analyse] is the only entry point: from a line and its surrounding system ([Env]) it
// returns the parts, the opaque spots and which parts input which ([Analysis]). The
// examples show each of these. docs/analysis.md defines a part, a part without effect
// and an opaque spot, and lists the constructs that are opaque by decision.
//
// The package is an abstract interpreter. [shell.Value] is the set of values that
// something may have, [shell.State] is the state of the shell at a point of the line,
// and each kind of syntax node has one function that changes the state. Where several
// paths meet, their states are joined. Rare constructs make the state forget.
// [unknown.Reason] is why something is unknown.
//
// These packages are below: grammar parses and finds what shells read differently, texts
// computes quotes, patterns and printf, shell has values and states, unknown the
// reasons. Package generate writes random lines for tests.
//
// How x=a; sed $x f is analyzed: script parses it, stmts and command walk it, and call
// takes the simple command. Each of its words goes through fields: fragments expands it
// (param looks up the [shell.Value] of x), and assemble joins the fragments into fields.
// start reads the first field, emitProgram gets the program's effects from
// [knowledge.Describe], and emit makes a part of them.
//
// Terms of this package:
//
//	field       one word that bash passes; the same as knowledge.Word
//	fragment    a piece of a word after expansion
//	static      certainly passed as it is; Known is the same for a value
//	May         possible values: for denies and questions, never for allows
//	Found       the search that finds a name: find, git ls-files, a pattern
//	spot        a place that cannot be analyzed (cardea.Opaque)
//	pending     parts whose output flows into the current command
//	late        runs at an unknown time: traps, PS4, later rounds of a loop
//	Attributes  attributes of a variable from declarations anywhere in the line
//
// The types embed each other, and every receiver is w: line (line.go), words, recorder,
// redirections, commands and statements (layers.go), walker (analyse.go). To find a method,
// search for "func (w .*) NAME(".
//
// The files, from top to bottom; each uses those below it:
//
//	analyse.go, beyond.go             one line, and texts beyond a limit
//	script.go, finish.go              scripts, and the line as a whole
//	statement.go, compound.go,
//	loop.go, pipeline.go, again.go    statements, loops, pipes and lists
//	start.go                          simple commands
//	eval.go, alias.go, read.go,
//	cd.go, set.go, declare.go,
//	builtin.go                        builtins of the shell
//	wrappers.go, container.go,
//	childshell.go, wrapper.go,
//	mounts.go, options.go             programs that start others
//	function.go                       functions, and scripts in a shell of their own
//	redirect.go                       redirections
//	emit.go, defines.go, potential.go  parts, with their effects
//	numbers.go, param.go, arith.go,
//	assign.go, word.go,
//	substitution.go, assembly.go,
//	fragment.go, zsh.go, late.go      words, as bash expands them
//	found.go, paths.go, written.go,
//	pipes.go                          what words may name, and the sources of commands
//	values.go, line.go                what is known at a point of the line
//	layers.go, invocation.go,
//	symlink.go, outside.go,
//	analysis.go, limits.go            types and limits
//
// A word may hold commands, and a command may run a script: the ways back up are the
// interface ways in line.go.
//
// Package internal/command/knowledge describes what a program does with its words, and
// internal/harness/call what moves between parts.
//
// The tests run lines in real bash (oracle_test.go) and compare: hand-written ones
// (testdata), generated ones (generate/) and mutated ones (mutate_test.go).
package bash
