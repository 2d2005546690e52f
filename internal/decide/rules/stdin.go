package rules

import (
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
)

// This file is about what a line gives a program to read: through a pipe, an input
// redirection, a here-document, or a descriptor that was opened before.

// Values of [Match.Stdin].
const (
	stdinNone = "none"
	stdinAny  = "any"
)

// inSight are the constructs whose text stands in the line itself, and inFront those of
// them that give what is in them nothing to read.
var (
	inSight = []string{"&&", "||", "&", "|", "|&", "{ }", "( )", "if", "for", "while", "until", "case", "select", "$( )", "` `", "<( )", ">( )"}
	inFront = []string{"&&", "||", "&", "{ }", "( )", "if", "for", "while", "until", "case", "select"}
)

// nothingToRead is an input redirection that gives nothing.
var nothingToRead = regexp.MustCompile(`<[ \t]*/dev/null([\s;&|)]|$)`)

// mayBeFed reports whether the line may give a part something to read. It errs on the
// side of yes: a line that runs further text (eval, bash -c, functions) is not looked into.
func (c *call) mayBeFed(p *cardea.Part) bool {
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
	// Some harnesses give several lines in one call.
	lines := append([]any{c.ev.Call.Input["command"]}, c.ev.Call.Shadowed["command"]...)
	return slices.ContainsFunc(lines, func(v any) bool {
		line, ok := v.(string)
		return !ok || feeds(line)
	})
}

// feeds reports whether a line gives any of its commands something to read other than by a
// pipe. The words of commands are not in the skeleton, so that each < in it opens
// something, as does 0>/dev/tcp/….
func feeds(line string) bool {
	skeleton, ok := grammar.Skeleton(line)
	skeleton = nothingToRead.ReplaceAllString(skeleton, "$1")
	return !ok || strings.Contains(skeleton, "<") || strings.Contains(skeleton, "0>")
}

// doesMore reports whether a part may do more with what it reads than read it: run it,
// or what is not known.
func doesMore(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Unknown || a.Kind == cardea.Execute })
}
