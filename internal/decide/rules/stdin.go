package rules

import (
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
)

// This file is about the input that a line gives to a program: by a pipe, an input
// redirection, a here-document, or a descriptor opened earlier.

// Values of [Match.Stdin].
const (
	stdinNone = "none"
	stdinAny  = "any"
)

// inSight are the constructs whose text is in the line itself. inFront are those of them
// that give their contents no input.
var (
	inSight = []string{"&&", "||", "&", "|", "|&", "{ }", "( )", "if", "for", "while", "until", "case", "select", "$( )", "` `", "<( )", ">( )"}
	inFront = []string{"&&", "||", "&", "{ }", "( )", "if", "for", "while", "until", "case", "select"}
)

// nothingToRead matches an input redirection from /dev/null.
var nothingToRead = regexp.MustCompile(`<[ \t]*/dev/null([\s;&|)]|$)`)

// mayBeFed reports whether the line may give a part input. If unsure, it returns true: it
// does not look into lines that run further text (eval, bash -c, functions).
func (c *evaluation) mayBeFed(p *cardea.Part) bool {
	if len(p.Argv) == 0 {
		return false
	}
	if slices.ContainsFunc(p.Via, func(v string) bool { return !slices.Contains(inFront, v) }) {
		return true
	}
	for i := range c.ev.Call.Parts {
		q := &c.ev.Call.Parts[i]
		if q.Coverage != cardea.Complete || slices.ContainsFunc(q.Via, func(v string) bool { return !slices.Contains(inSight, v) }) {
			return true
		}
	}
	// The input of some harnesses has several lines for one call.
	lines := append([]any{c.ev.Call.Input["command"]}, c.ev.Call.Shadowed["command"]...)
	return slices.ContainsFunc(lines, func(v any) bool {
		line, ok := v.(string)
		return !ok || pipes(line)
	})
}

// pipes reports whether a line gives any of its commands input other than by a pipe. The
// skeleton omits the words of commands, so each < in it opens a file, as 0>/dev/tcp/… does.
func pipes(line string) bool {
	skeleton, ok := grammar.Skeleton(line)
	skeleton = nothingToRead.ReplaceAllString(skeleton, "$1")
	return !ok || strings.Contains(skeleton, "<") || strings.Contains(skeleton, "0>")
}

// doesMore reports whether a part may do more with its input than read it: it runs a file,
// or an effect is unknown.
func doesMore(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Unknown || a.Kind == cardea.Execute })
}
