package bash

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/knowledge"
)

// invocation is a simple command on its way to becoming a part: wrappers take
// words off its front.
type invocation struct {
	argv     []field
	assigns  []cardea.Assign
	access   []cardea.Access     // of redirections
	may      map[string][]string // what the assigns may be which are not certain
	wrappers []string
	around   []cardea.Outer // the commands that were taken apart on the way
	elevated bool
	remote   bool
	// dropped are the variables that env takes away; "*" stands for all.
	dropped []string
	// renamed is set where the program gets another name than that of its file.
	renamed bool
	// program is set when the shell no longer looks the name up itself, so
	// that functions, aliases and builtins do not apply.
	program bool
	// mayFail is set when a redirection can fail, so that it may not run.
	mayFail bool
	// splits is set where bash splits a value into some of its words, and zsh does not.
	splits bool
	text   string // as written, for messages
	start  int
}

// mayBe notes what a variable may be that a command is given.
func (inv *invocation) mayBe(name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	inv.may = maps.Clone(inv.may)
	if inv.may == nil {
		inv.may = map[string][]string{}
	}
	inv.may[name] = texts
}

// with are the surroundings of a script that a command starts.
func (s surroundings) with(inv invocation) surroundings {
	out := surroundings{wrappers: inv.wrappers, outer: inv.outer(), elevated: s.elevated || inv.elevated, remote: s.remote || inv.remote,
		assigns: slices.Concat(s.assigns, inv.assigns)}
	out.spots = append(variableSpots(inv.assigns), s.spots...)
	return out
}

// quote writes a field so that bash reads it back as the same word.
func quote(f field) string {
	if !f.Static {
		return f.Text
	}
	return Quote(f.Text)
}

// Quote writes a text so that bash reads it as one word.
func Quote(s string) string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return s
	}
	return q
}

// spelled is the canonical text of a command, and its words.
func spelled(fields []field) (string, []cardea.Word) {
	if len(fields) == 0 {
		return "", nil
	}
	words := make([]cardea.Word, len(fields))
	var text strings.Builder
	for i := range fields {
		words[i] = fields[i].Word
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(quote(fields[i]))
	}
	return text.String(), words
}

// outerAndSelf are the commands around what this one starts: those around it, and
// itself.
func (inv invocation) outerAndSelf() []cardea.Outer {
	text, argv := spelled(inv.argv)
	return append(slices.Clone(inv.outer()), cardea.Outer{Text: text, Argv: argv})
}

// outer are the commands around this one. The first that is elevated is the
// last that came off before it was.
func (inv invocation) outer() []cardea.Outer {
	n := len(inv.around)
	if n == 0 || !inv.elevated && !inv.remote || slices.ContainsFunc(inv.around, func(o cardea.Outer) bool { return o.Elevated }) {
		return inv.around
	}
	around := slices.Clone(inv.around)
	around[n-1].Elevated = true
	return around
}

// startsOther reports the builtins that start the command after them.
func startsOther(name string) bool {
	return slices.Contains([]string{"command", "builtin", "exec", "eval", "noglob", "nocorrect"}, name)
}

// behind is the invocation that a wrapper of a name starts: the words of a program.
func (inv invocation) behind(wrapper string, words []field) invocation {
	inv.wrappers = append(slices.Clone(inv.wrappers), wrapper)
	inv.argv, inv.program = words, true
	return inv
}

// assign adds the assignments that a wrapper makes for what it starts.
func (inv *invocation) assign(words []field) {
	for _, f := range words {
		a := assignOf(f)
		inv.assigns = append(slices.Clone(inv.assigns), a)
		inv.mayBe(a.Name, afterName(f.May))
	}
}

func assignOf(f field) cardea.Assign {
	name, val, _ := strings.Cut(f.Text, "=")
	if !f.Static {
		name, _, _ = strings.Cut(f.Head, "=")
	}
	return cardea.Assign{Name: name, Value: val, Static: f.Static, Class: knowledge.AssignmentClass(name, val, f.Static)}
}

// isAssignment reports NAME=value; where the value is not known, the name must be plain.
func isAssignment(f field) bool {
	if f.Static {
		return strings.Contains(f.Text, "=")
	}
	name, _, ok := strings.Cut(f.Head, "=")
	return ok && texts.PlainName(name)
}

// replaced notes what the options of exec change for the program.
func (inv *invocation) replaced(options []option) {
	for _, o := range options {
		inv.renamed = inv.renamed || o.name == "-a" || o.name == "-l"
		if o.name == "-c" {
			inv.dropped = []string{"*"}
		}
	}
}
