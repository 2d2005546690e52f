package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// Env is the world in which a line would run.
type Env struct {
	// Cwd is the folder it starts in, absolute; "" makes relative paths
	// unknown.
	Cwd string
	knowledge.World
	// Fresh reports whether output to a file overwrites nothing and creates nothing
	// that anything executes by its name. Nil: none is.
	Fresh func(path string) bool

	// Name is $0; "" where it is not known.
	Name string

	// likely are the folders in which the line may start where Cwd is not known.
	likely []string
	// depth is how many possible commands lie around the line, looked how many of all were
	// looked at; nil where none lies around.
	depth  int
	looked *int
}

// Analysis holds what is known of a line.
type Analysis struct {
	// Parts are the simple commands, and redirections that stand by
	// themselves, in the order in which they were found.
	Parts []cardea.Part
	// Opaque are spots that concern the whole line.
	Opaque []cardea.Opaque
	// Pipes say which parts input which.
	Pipes []Pipe
	// SelfCalls hold what functions and scripts do until they call themselves: the
	// last part of each is the call.
	SelfCalls []Again
	// Endless are the loops whose condition never changes.
	Endless []Again
	// Conditional are the parts that run only where a condition holds, or a limited
	// number of times: ranges, half open.
	Conditional [][2]int
	// Written are the texts that the line writes to files, as far as it says them.
	Written []Written
	// misread is set where the parser refused a text that bash may run.
	misread bool
	// Inputs are the texts that the line gives to its parts to read, as far as it says
	// them.
	Inputs []Input
}

// Pipe says that the output of some parts reaches others. Both are ranges of
// parts, half open.
type Pipe struct {
	From, To [2]int
	// Code is set where what arrives is run: eval "$(…)", bash <(…).
	Code bool
	// Variable is set where a variable holds what arrives.
	Variable bool
	// Lines is set where one command writes into the pipe, and no error of a
	// command does.
	Lines bool
}

// Again is a range of parts, half open, that may run again and again.
type Again struct {
	From, To int
	// Depth is the number of steps of Via that lie around the range.
	Depth int
}

// Written is a text that a line writes to a file. Expansions in it stand as they are
// written.
type Written struct {
	Path, Text string
	// Appended is set where what the file held before may stay, or the file may hold
	// something else.
	Appended bool
}

// Input is a text that a part is given to read. Expansions in it stand as they are
// written.
type Input struct {
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

// Origins lists the parts whose output a word holds that is one variable and
// nothing else, as far as the parts in front of one tell: those in the
// substitution that set it, or those that a loop goes through.
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

// loops reports a part that is in a substitution of a for loop.
func loops(via []string) bool {
	n := len(via)
	return n > 1 && via[n-2] == "for" && (via[n-1] == "$( )" || via[n-1] == "` `")
}

// setsName reports whether a part that only sets variables sets this one from
// a substitution.
func setsName(text, name string) bool {
	for _, keyword := range []string{"export ", "local ", "declare ", "readonly ", "typeset "} {
		text = strings.TrimPrefix(text, keyword)
	}
	rest, ok := strings.CutPrefix(text, name+"=")
	return ok && strings.ContainsAny(rest, "$`")
}

// variableAlone is the name of the variable that a word consists of.
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
