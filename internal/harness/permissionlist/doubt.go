package permissionlist

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// Doubt returns a warning that the author of the entry may have meant something else.
func (e *Entry) Doubt(code diagnostic.Code, hint, text string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Severity: diagnostic.LevelWarning, File: e.From.File, Line: e.Line(), Column: e.Column(), Code: code,
		Text: fmt.Sprintf("the entry %q: %s", e.Text, text), Hint: hint}
}

// Doubts returns the warnings about an entry by itself.
func (e *Entry) Doubts() []diagnostic.Diagnostic {
	if e.Form == Nothing {
		return []diagnostic.Diagnostic{e.Doubt(diagnostic.CodeNoEffect, "correct or remove it", "it counts for nothing: "+e.Why)}
	}
	var out []diagnostic.Diagnostic
	if e.Form == Command {
		out = append(out, e.neverCommand()...)
	}
	if e.Effect == cardea.Allow && len(out) == 0 {
		out = append(out, e.wide()...)
	}
	return out
}

// neverCommand returns warnings about commands that no part can be.
func (e *Entry) neverCommand() []diagnostic.Diagnostic {
	spec := e.Spec
	switch {
	case strings.TrimSpace(spec) != spec && !strings.HasSuffix(spec, " "):
		return []diagnostic.Diagnostic{e.Doubt(diagnostic.CodeNoEffect, "take the blank away", "it begins with a blank, and no command does")}
	case strings.Contains(strings.TrimSuffix(spec, ":*"), ":*"):
		return []diagnostic.Diagnostic{e.Doubt(diagnostic.CodeNoEffect, `write " *"`, `":*" is a wildcard at the very end alone; elsewhere the colon is a character`)}
	case e.Effect == cardea.Allow && plainOperators(spec):
		return []diagnostic.Diagnostic{e.Doubt(diagnostic.CodeNoEffect, "give each command an entry of its own", "a line is taken apart at its operators, so that no part holds one")}
	}
	program, _ := e.Program()
	if e.Effect == cardea.Allow && strings.Contains(program, "=") {
		return []diagnostic.Diagnostic{e.Doubt(diagnostic.CodeUncertain, "leave harmless variables out; they come off by themselves", "the variables are part of it, so that it allows the command with exactly these")}
	}
	return nil
}

// plainOperators reports whether a text has an operator of the shell outside of quotes.
func plainOperators(s string) bool {
	quote := rune(0)
	for _, c := range s {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.ContainsRune("|&;<>", c):
			return true
		}
	}
	return false
}

// wide returns warnings about entries that allow more than they seem to.
func (e *Entry) wide() []diagnostic.Diagnostic {
	one := func(text, hint string) []diagnostic.Diagnostic {
		return []diagnostic.Diagnostic{e.Doubt(diagnostic.CodeTooWide, hint, text)}
	}
	if e.Form == Whole {
		switch e.Tool {
		case "Bash", "PowerShell", "Monitor":
			return one("it allows every command", "name the commands")
		case "Edit", "Write", "MultiEdit", "NotebookEdit":
			return one("it allows every file to be changed", "name the paths, such as Edit(src/**)")
		case "WebFetch":
			return one("it allows every host, those of this machine and its network included", "name them, such as WebFetch(domain:example.com)")
		}
		return nil
	}
	if e.Form != Command || !e.Wild() {
		return nil
	}
	program, ok := e.Program()
	front := e.command.front
	switch {
	case !ok && e.command.trailing() && front != "":
		return one("there is no blank in front of the wildcard, so it allows every command that begins with "+front, "write "+front+" * or "+front+":*")
	case !ok:
		return one("the program itself is a wildcard", "name the program")
	case starts(program) != "" && onlyProgram(front):
		return one(program+" "+starts(program), "name what it starts")
	case knowledge.Has(form.RunsByOptionsInFront, program) && strings.TrimSpace(front) == program && !e.command.trailing():
		return one("the wildcard stands where the subcommand does, and covers options in front of it, such as git -c", "name the subcommand first")
	}
	return nil
}

// onlyProgram reports whether the text before the wildcard is only the program, or a program with a
// word that starts others.
func onlyProgram(front string) bool {
	words := strings.Fields(front)
	return len(words) <= 1 || len(words) == 2 && slices.Contains([]string{"-c", "-e", "--eval", "run", "exec", "-m", "x", "dlx"}, words[1])
}

// starts describes the effect of a program that runs others, "" for any other program.
func starts(program string) string {
	w := knowledge.WrapperOf(program)
	switch {
	case knowledge.Has(form.Searches, program):
		return "can start programs and delete files by its options; those are not approved by a wildcard"
	case w != nil && w.Remote:
		return "starts any command elsewhere"
	case w != nil && (w.Elevated || w.How == "user"):
		return "starts any command as another user or with other rights"
	case w != nil, knowledge.Has(form.RunsWords, program):
		return "starts any command that stands behind it"
	case knowledge.IsInterpreter(program), knowledge.Has(form.RunsCode, program):
		return "runs any program that stands behind it"
	case knowledge.Has(form.RunsPackages, program):
		return "can run any package or command"
	}
	return ""
}

// Shadows reports whether e matches everything that o matches, in the clear cases: the same text,
// or a prefix of it with a wildcard at the end.
func (e *Entry) Shadows(o *Entry) bool {
	if e.Form == Nothing || o.Form == Nothing || e.Tool != o.Tool && !(strings.HasPrefix(o.Tool, e.Tool+"__") && e.Form == Whole) {
		return false
	}
	switch {
	case e.Form == Whole:
		return true
	case e.Form != o.Form:
		return false
	case e.Form == Command || e.Form == Named:
		return shadowsPattern(&e.command, &o.command)
	case e.Form == Host:
		return e.more.host == o.more.host || !strings.Contains(o.more.host, "*") && e.HostIs(o.more.host)
	case e.Form == Param:
		return e.Spec == o.Spec
	}
	return e.Spec == o.Spec && (e.From.Source == o.From.Source || e.more.file.anchor != fromSource)
}

// shadowsPattern is Shadows for patterns of commands.
func shadowsPattern(e, o *pattern) bool {
	if *e == *o {
		return true
	}
	front := o.front
	if !e.trailing() {
		return !o.wild && e.match(front)
	}
	if o.bare && !e.bare && e.match(strings.TrimSuffix(front, " ")) {
		return true
	}
	return strings.HasPrefix(front, e.front) || !o.wild && e.match(front)
}
