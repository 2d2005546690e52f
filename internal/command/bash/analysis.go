package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// Env is the system and the shell state in which a line would run.
type Env struct {
	// Cwd is the absolute folder in which it starts. "" makes relative paths unknown.
	Cwd string
	knowledge.System
	// Fresh reports whether output to a file overwrites nothing and creates nothing
	// that anything executes by its name. Nil: none is.
	Fresh func(path string) bool

	// Name is $0, or "" if it is unknown.
	Name string

	// likely are the folders in which the line may start if Cwd is unknown.
	likely []string
	// depth is the number of possible commands that contain the line. looked is the number
	// examined so far; nil if none contains it.
	depth  int
	looked *int
}

// Analysis is the result of the analysis of a line.
type Analysis struct {
	// Parts are the simple commands, and redirections without a command, in the order in
	// which they were found.
	Parts []cardea.Part
	// Opaque are spots that concern the whole line.
	Opaque []cardea.Opaque
	// Pipes are the connections between the output of parts and the input of others.
	Pipes []Pipe
	// SelfCalls are the parts of functions and scripts up to a call of themselves, which is
	// the last part of each.
	SelfCalls []Again
	// Endless are the loops whose condition never changes.
	Endless []Again
	// Conditional are the half-open ranges of parts that run only if a condition holds, or
	// a limited number of times.
	Conditional [][2]int
	// Written are the texts that the line writes to files, as far as it shows them.
	Written []Written
	// misread is set if the parser refused a text that bash may run.
	misread bool
	// Inputs are the texts that parts read from the line, as far as it shows them.
	Inputs []StdinText
}

// Pipe connects the output of some parts to others. Both are half-open ranges of parts.
type Pipe struct {
	From, To [2]int
	// Code is set if the data is run as code: eval "$(…)", bash <(…).
	Code bool
	// Variable is set if a variable holds the data.
	Variable bool
	// Lines is set if one command writes into the pipe, and error output of a command does
	// not go there.
	Lines bool
}

// Again is a half-open range of parts that may run repeatedly.
type Again struct {
	From, To int
	// Depth is the number of steps of Via that contain the range.
	Depth int
}

// Written is a text that a line writes to a file. Expansions in it are unchanged.
type Written struct {
	Path, Text string
	// Appended is set if the old content of the file may stay, or if the file may hold
	// something else.
	Appended bool
}

// StdinText is a text that a part reads. Expansions in it are unchanged.
type StdinText struct {
	Part int
	Text string
}

// PrintsEndlessly reports whether the last part of a range, or a loop in it, prints
// without end.
func (a *Analysis) PrintsEndlessly(at [2]int) bool {
	if at[0] >= at[1] || at[1] > len(a.Parts) {
		return false
	}
	for i := at[1] - 1; i >= at[0]; i-- {
		p := &a.Parts[i]
		if knowledge.HasWith(form.PrintsEndlessly, p.Program(), func(word string) bool {
			return slices.ContainsFunc(p.Argv, func(o cardea.Word) bool { return o.Text == word })
		}) {
			return true
		}
		if !knowledge.PassesOn(p) {
			break
		}
	}
	return slices.ContainsFunc(a.Endless, func(r Again) bool { return at[0] <= r.From && r.To <= at[1] })
}

// Origins returns the parts whose output is in a word that is one variable and nothing
// else, as far as the parts before index before show. They are in the substitution that
// set it, or those over which a loop runs.
func (a *Analysis) Origins(text string, before int) [][2]int {
	name := variableAlone(text)
	if name == "" {
		return nil
	}
	var out [][2]int
	for i := min(before, len(a.Parts)) - 1; i >= max(0, before-maxOriginScan); i-- {
		p := &a.Parts[i]
		switch {
		case len(p.Argv) == 0 && setsName(p.Text, name):
			for _, pipe := range a.Pipes {
				if pipe.To[0] <= i && i < pipe.To[1] {
					out = append(out, pipe.From)
				}
			}
			return out
		case loops(p.Via) && !slices.ContainsFunc(a.Pipes[max(0, len(a.Pipes)-MaxScan):], func(x Pipe) bool { return x.From[0] <= i && i < x.From[1] }):
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// loops reports whether a part is in a substitution of a for loop.
func loops(via []string) bool {
	n := len(via)
	return n > 1 && via[n-2] == "for" && (via[n-1] == "$( )" || via[n-1] == "` `")
}

// setsName reports whether a part that only sets variables sets name from a substitution.
func setsName(text, name string) bool {
	for _, keyword := range []string{"export ", "local ", "declare ", "readonly ", "typeset "} {
		text = strings.TrimPrefix(text, keyword)
	}
	rest, ok := strings.CutPrefix(text, name+"=")
	return ok && strings.ContainsAny(rest, "$`")
}

// variableAlone returns the name of the variable of which a word consists, or "".
func variableAlone(text string) string {
	text = strings.TrimRight(strings.Trim(text, `"`), "/")
	name, ok := strings.CutPrefix(strings.Trim(text, `"`), "$")
	if !ok {
		return ""
	}
	if inner, ok := strings.CutPrefix(name, "{"); ok {
		name = strings.TrimSuffix(inner, "}")
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return ""
	}
	return name
}

// beyondLimit reports whether a limit was reached.
func (a *Analysis) beyondLimit() bool {
	limit := func(o cardea.Opaque) bool { return o.Code.Limit() }
	return slices.ContainsFunc(a.Opaque, limit) ||
		slices.ContainsFunc(a.Parts, func(p cardea.Part) bool { return slices.ContainsFunc(p.Opaque, limit) })
}
