// Package bash reads a command line as bash does and says what bash would
// start, and with which words: the parts of a call.
//
// Everything in Cardea that looks at a command looks through this package. It
// is sound rather than clever: every program that bash would start itself is
// among the parts, or the line carries an opaque spot that covers it; a word
// called static is what bash passes. Where the parser (mvdan.cc/sh) and bash
// are known to differ, the line is opaque (raw.go).
//
// [Analyse] is all that there is to call: a line and the world around it
// ([Env]) give its parts, its opaque spots and which parts input which
// ([Analysis]). The examples show each of these; docs/analysis.md says what a
// part, a part without effect and an opaque spot are, and which constructs are
// opaque by decision.
//
// A line passes through these stages, a file or a few each:
//
//	limits.go, raw.go, heredoc.go     what is refused before or beside parsing
//	walk.go, compound.go              statements, pipes and compound commands
//	state.go, names.go, forget.go     what the shell knows at a point of the line
//	word.go, brace.go, quote.go,
//	param.go, arith.go                words, as bash expands them
//	call.go, redirect.go              simple commands
//	builtin.go, cd.go, set.go,
//	declare.go, trap.go               builtins that change the shell
//	wrapper.go, wrappers.go,
//	container.go, childshell.go       programs that start others
//	sources.go                        where the value of a word comes from
//	symlink.go                        links and folders that the line makes
//
// What a program does with its words is internal/knowledge's; what moves between
// parts is internal/call's.
//
// The tests run lines in real bash (oracle_test.go) and compare: hand-written
// ones (table_test.go, attacks_test.go), generated ones (generate/),
// spoiled ones (mutate_test.go).
package bash
