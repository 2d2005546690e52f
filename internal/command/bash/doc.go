// Package bash reads a command line as bash does and says what bash would
// start, and with which words: the parts of a call.
//
// Everything in Cardea that looks at a command looks through this package. It
// is sound rather than clever: every program that bash would start itself is
// among the parts, or the line carries an opaque spot that covers it; a word
// called static is what bash passes. Where the parser (mvdan.cc/sh) and bash
// are known to differ, the line is opaque (package grammar).
//
// [Analyse] is all that there is to call: a line and the world around it
// ([Env]) give its parts, its opaque spots and which parts input which
// ([Analysis]). The examples show each of these; docs/analysis.md says what a
// part, a part without effect and an opaque spot are, and which constructs are
// opaque by decision.
//
// It is an abstract interpreter. [shell.Value] is what something may be, [shell.State] is
// what the shell knows at a point of the line, and each kind of syntax node has one
// function that changes the state. Where several ways meet, their states are joined. What
// is rare makes the state forget. [unknown.Reason] says why something is not known.
//
// These packages are below: grammar parses and finds what shells read differently, texts
// computes quotes, patterns and printf, shell has values and states, unknown the reasons.
// Package generate writes random lines for tests.
//
// The way of x=a; sed $x f: script parses it, stmts and command walk it, and call takes the
// simple command. Each of its words goes through fields: fragments expands it (param asks
// lookup for the [shell.Value] of x), and assemble joins the fragments into fields. start
// looks at the first field, emitProgram asks [knowledge.Describe] what the program does, and
// emit makes a part of it.
//
// Words of this package:
//
//	field       one word that bash passes; the same as knowledge.Word
//	fragment    a piece of a word after expansion
//	static      passed exactly so, for certain. Known says the same of a value
//	May         what something may be: for denies and questions, never for allows
//	Found       the search that finds a name: find, git ls-files, a pattern
//	spot        a place that cannot be seen through (cardea.Opaque)
//	pending     parts whose output flows into the current command
//	late        runs at a time that is not known: traps, PS4, later rounds of a loop
//	traits      what declarations say of a variable anywhere in the line
//
// The types embed each other, and every receiver is w: line (line.go), words, recorder,
// redirections, commands and statements (layers.go), walker (analyse.go). To find a method,
// search for "func (w .*) NAME(".
//
// The files here, from the top to the bottom; each uses those below it:
//
//	analyse.go, beyond.go             one line, and texts beyond a limit
//	script.go, finish.go              scripts, and what holds for a line as a whole
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
//	emit.go, defines.go, possible.go  parts, with what they do
//	numbers.go, param.go, arith.go,
//	assign.go, word.go,
//	substitution.go, assembly.go,
//	fragment.go, zsh.go, late.go      words, as bash expands them
//	found.go, paths.go, written.go,
//	feeds.go                          what words may name, and what flows into commands
//	values.go, line.go                what is known at a point of the line
//	layers.go, invocation.go,
//	symlink.go, outside.go,
//	analysis.go, limits.go            types and limits
//
// A word may hold commands, and a command may run a script: the ways back up are the
// interface ways in line.go.
//
// What a program does with its words is internal/command/knowledge's; what moves between
// parts is internal/harness/call's.
//
// The tests run lines in real bash (oracle_test.go) and compare: hand-written
// ones (testdata), generated ones (generate/),
// spoiled ones (mutate_test.go).
package bash
