package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
)

// commandMistakes returns commands of rules that no line starts, and tools that no harness
// has. Other gates match commands by globs, or look at options. Such a rule matches
// nothing, although its author relies on it. Each command is tried as written.
func commandMistakes(l *inforce.Loaded) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for _, f := range l.Files {
		data, err := state.ReadLinked(f.Path, document.MaxSize)
		if err != nil {
			continue // reading the rules has reported it
		}
		for _, r := range document.Read(f.Path, data).Top().Map().List("rules") {
			if !r.IsMap() {
				continue
			}
			m := r.Map()
			for _, t := range m.Get("tool").Items() {
				if severity, text, hint := unknownTool(t.Text()); text != "" {
					out = append(out, diagnostic.Diagnostic{File: f.Path, Line: t.Line(), Column: t.Column(), Severity: severity, Code: diagnostic.CodeUnknownName, Text: text, Hint: hint})
				}
			}
			if tools := m.Texts("tool"); len(tools) > 0 && !slices.ContainsFunc(tools, func(t string) bool { return strings.Contains(t, "Bash") || t == "*" }) {
				continue
			}
			for _, c := range commandsOf(m.Get("match"), nil) {
				if text, hint := neverStarted(c.Text()); text != "" {
					out = append(out, diagnostic.Diagnostic{File: f.Path, Line: c.Line(), Column: c.Column(), Code: diagnostic.CodeNoEffect, Text: text, Hint: hint})
				}
			}
		}
	}
	return out
}

// unknownTool returns what is wrong with the name of a tool. text is "" for a known tool, a
// glob, or a tool of an MCP server, whose names are arbitrary.
func unknownTool(name string) (severity diagnostic.Level, text, hint string) {
	_, known := harness.ToolWord(name)
	tool, rest, found := strings.Cut(name, "(")
	switch {
	case known || name == "" || strings.HasPrefix(name, "mcp"):
		return diagnostic.LevelNote, "", ""
	case found:
		command := strings.TrimRight(strings.TrimSuffix(rest, ")"), ":* ")
		return diagnostic.LevelError, fmt.Sprintf("no tool is called %q", name), fmt.Sprintf("write tool: %s, and match: {command: %s}, or path: for files", tool, command)
	case strings.ContainsAny(name, "*?["):
		return diagnostic.LevelNote, "", ""
	}
	names := listOf(harness.Tools(), func(t harness.ToolInfo) string { return t.Name })
	hint = "look for a typing error; docs/rule-language.md says how tools are named"
	if near := document.NearestName(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return diagnostic.LevelWarning, fmt.Sprintf("no harness has a tool %q", name), hint
}

// commandsOf appends the commands of a match and of its alternatives.
func commandsOf(match document.Value, to []document.Value) []document.Value {
	if !match.IsMap() {
		return to
	}
	m := match.Map()
	for _, c := range m.Get("command").Items() {
		if c.Text() != "" {
			to = append(to, c)
		}
	}
	for _, other := range m.Get("any").Items() {
		to = commandsOf(other, to)
	}
	return to
}

// neverStarted returns why a command of a rule matches nothing, and what to write instead.
// Both are "" if a line that begins with it matches.
func neverStarted(command string) (text, hint string) {
	words := strings.Fields(command)
	for i, w := range words {
		before := strings.Join(words[:i], " ")
		switch matched := matchesItself(words[:i+1]); {
		case strings.ContainsAny(w, "*?") && (i == 0 || !matched):
			return fmt.Sprintf("no command matches %q: a command has no globs", command), insteadOfGlob(before, w, i == len(words)-1)
		case i > 0 && !matched && len(w) > 1 && w[0] == '-':
			return fmt.Sprintf("no command matches %q: %s is an option, and a command is the words without options", command, w),
				fmt.Sprintf("write command: %s, and flags: [%s]", before, w)
		case i > 0 && !matched && strings.Trim(w, "|&;<>") == "":
			return fmt.Sprintf("no command matches %q: a rule is about one command, and %q joins two", command, w),
				fmt.Sprintf("write command: %s, and another rule for what follows", before)
		case i == 0 && !matched && strings.HasPrefix(w, "git-"):
			return fmt.Sprintf("no command matches %q: %s counts as git %s", command, w, w[4:]), "write command: git " + command[4:]
		case strings.ContainsAny(w, "|()\"'^$\\") && (i == 0 || !matched || w[len(w)-1] == '$'):
			return fmt.Sprintf("no command matches %q: a command is plain words, and %q is not one", command, w),
				"write the words alone, and an expression for the rest as args: or pattern:"
		}
	}
	return "", ""
}

// insteadOfGlob returns how to write a word that is a glob. The words before it stay the
// command.
func insteadOfGlob(before, w string, last bool) string {
	name, covers := strings.TrimRight(w, "*"), ""
	if last && (name == "" || name[len(name)-1] == ':') {
		covers = strings.TrimSpace(before + " " + strings.TrimRight(name, ":"))
	}
	switch {
	case covers != "":
		return fmt.Sprintf("write command: %s, which stands for whatever follows, too", covers)
	case before == "":
		return "name the programs, as in command: [npm, pnpm], or use pattern: with an expression"
	}
	return fmt.Sprintf("write command: %s, and args: '^%s$'", before, strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(w)))
}

// matchesItself reports whether a rule with a command matches the line of exactly these words.
func matchesItself(words []string) bool {
	d := rules.New(rules.ListOf([]rules.Rule{{ID: "x", Effect: cardea.Deny, Match: rules.Match{Command: [][]string{words}}}}), stand().Options)
	ev := probe{"Bash", "command", strings.Join(words, " ")}.event(place{Project: testProject})
	opinions, err := d.Decide(context.Background(), analyseTest(ev))
	return err != nil || len(opinions) > 0
}
