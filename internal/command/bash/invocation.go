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

// invocation is a simple command before it becomes a part. Wrappers remove words from
// its front.
type invocation struct {
	argv      []field
	assigns   []cardea.Assign
	access    []cardea.Access     // of redirections
	may       map[string][]string // the possible values of assigns that are not certain
	wrappers  []string
	enclosing []cardea.Outer // the commands that start it
	elevated  bool
	remote    bool
	// dropped are the variables that env removes. "*" stands for all.
	dropped []string
	// renamed is set if the program gets another name than that of its file.
	renamed bool
	// program is set if the shell no longer resolves the name itself, so that functions,
	// aliases and builtins do not apply.
	program bool
	// mayFail is set if a redirection can fail, so that the command may not run.
	mayFail bool
	// splits is set if bash splits a value into some of its words, and zsh does not.
	splits bool
	text   string // as written, for messages
	start  int
}

// mayBe records possible values of a variable that a command receives.
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

// with returns the surroundings of a script that a command starts.
func (s surroundings) with(inv invocation) surroundings {
	out := surroundings{wrappers: inv.wrappers, outer: inv.outer(), elevated: s.elevated || inv.elevated, remote: s.remote || inv.remote,
		assigns: slices.Concat(s.assigns, inv.assigns)}
	out.spots = append(variableSpots(inv.assigns), s.spots...)
	return out
}

// quote returns a field so that bash reads it back as the same word.
func quote(f field) string {
	if !f.Static {
		return f.Text
	}
	return Quote(f.Text)
}

// Quote returns s quoted so that bash reads it as one word.
func Quote(s string) string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return s
	}
	return q
}

// spelled returns the canonical text of a command, and its words.
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

// outerAndSelf returns the outer commands of a command that this one starts: its own
// outer ones, and itself.
func (inv invocation) outerAndSelf() []cardea.Outer {
	text, argv := spelled(inv.argv)
	return append(slices.Clone(inv.outer()), cardea.Outer{Text: text, Argv: argv})
}

// outer returns the commands that contain this one. If none is marked as elevated though
// this one is, the last one is marked.
func (inv invocation) outer() []cardea.Outer {
	n := len(inv.enclosing)
	if n == 0 || !inv.elevated && !inv.remote || slices.ContainsFunc(inv.enclosing, func(o cardea.Outer) bool { return o.Elevated }) {
		return inv.enclosing
	}
	enclosing := slices.Clone(inv.enclosing)
	enclosing[n-1].Elevated = true
	return enclosing
}

// startsOther reports whether a builtin starts the command after it.
func startsOther(name string) bool {
	return slices.Contains([]string{"command", "builtin", "exec", "eval", "noglob", "nocorrect"}, name)
}

// behind returns the invocation that the named wrapper starts: the words of a program.
func (inv invocation) behind(wrapper string, words []field) invocation {
	inv.wrappers = append(slices.Clone(inv.wrappers), wrapper)
	inv.argv, inv.program = words, true
	return inv
}

// assign adds the assignments of a wrapper for the command that it starts.
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

// isAssignment reports whether f has the form NAME=value. If the value is unknown, the
// name must be plain.
func isAssignment(f field) bool {
	if f.Static {
		return strings.Contains(f.Text, "=")
	}
	name, _, ok := strings.Cut(f.Head, "=")
	return ok && texts.PlainName(name)
}

// replaced records what the options of exec change for the program.
func (inv *invocation) replaced(options []option) {
	for _, o := range options {
		inv.renamed = inv.renamed || o.name == "-a" || o.name == "-l"
		if o.name == "-c" {
			inv.dropped = []string{"*"}
		}
	}
}
