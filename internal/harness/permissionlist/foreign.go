package permissionlist

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/harness"
)

// This file translates the lists of other harnesses. It only translates denies and asks. Allows
// apply only to calls of their own harness, whose own flow answers them. An ask about a whole tool
// is also left to the harness: it is the harness's way to prompt, not a rule about a command. The
// rest is listed with its reason.

// translation is one list that is being translated.
type translation struct {
	out  *SettingsFile
	from *Origin
	data []byte
}

// rule is a rule of an ordered list: it applies if its pattern matches, and those that win over it
// do not.
type rule struct {
	tool, spec string // canonical tool; the specifier, "" for the whole tool
	action     string // OpenCode's word for the tool
	effect     cardea.Effect
	at         int
}

// text returns the rule in the form of an entry.
func (r *rule) text() string {
	if r.spec == "" {
		return r.tool
	}
	return r.tool + "(" + r.spec + ")"
}

// leave records a rule that applies only to calls of its own harness.
func (t *translation) leave(r rule, why string) {
	e := Entry{Rule: Rule{Text: r.text(), Tool: r.tool, Spec: r.spec, Form: Nothing, Why: why}, Effect: r.effect, From: t.from, offset: r.at}
	t.out.Left = append(t.out.Left, e)
}

// add adds an entry for a rule, with the rules that win over it as exceptions.
func (t *translation) add(r rule, winners []rule) {
	if r.effect == cardea.Allow || r.spec == "" && r.effect == cardea.Ask {
		t.leave(r, "the harness applies it to its own calls")
		return
	}
	text := r.text()
	e := Entry{Rule: Parse(text, Context{Effect: r.effect}), Effect: r.effect, From: t.from, offset: r.at}
	for _, w := range winners {
		if w.tool != r.tool || w.effect != cardea.Allow {
			continue
		}
		if w.spec == "" {
			return
		}
		e.extend().except = append(e.more.except, commandPattern(w.spec))
		if e.Form == File {
			if p, why := newFilePattern(w.spec, true); why == "" {
				e.more.exceptFiles = append(e.more.exceptFiles, p)
			}
		}
	}
	t.out.Entries = append(t.out.Entries, e)
}

// untranslated reports a rule that cannot be expressed.
func (t *translation) untranslated(at int, text string) {
	line, column := jsonedit.Position(t.data, at)
	t.out.Problems = append(t.out.Problems, diagnostic.Diagnostic{File: t.from.File, Line: line, Column: column, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNotConverted,
		Text: text + ", so it counts for its own harness alone", Hint: "write an entry for it in a list of Claude Code, or a rule"})
}

// root parses a JSON file whose top is an object; it returns nil for a broken file.
func (t *translation) root() *jsonedit.Node {
	doc, err := jsonedit.Parse(t.data)
	if err != nil {
		*t.out = t.out.broken(t.from, t.data, err)
		return nil
	}
	if doc.Root.Kind != jsonedit.Object {
		t.out.problem(t.from, t.data, doc.Root.Start, "the file holds %s, not an object", doc.Root.Kind)
		return nil
	}
	return doc.Root
}

// openCode reads opencode.json: the map "permission" of version 1, or the list
// "permissions" of version 2. In both the last rule that matches wins.
func (t *translation) openCode() {
	root := t.root()
	rules := openCodeRules(root)
	for i, r := range rules {
		switch {
		case openCodeTools[r.action] != "":
			t.add(r, rules[i+1:])
		case r.effect == cardea.Deny:
			t.untranslated(r.at, "the rule for "+r.action+" denies what no entry names")
		default:
			t.leave(r, "the harness applies it to its own calls")
		}
	}
	for _, key := range []string{"agent", "mode"} {
		for _, agent := range itemsOf(root.Get(key)) {
			for _, r := range openCodeRules(agent.Value) {
				t.leave(r, "the harness applies it to its agent "+agent.Key+" alone")
			}
		}
	}
}

// openCodeRules returns the rules of an object, first to last.
func openCodeRules(n *jsonedit.Node) (rules []rule) {
	all := n.Get("permission")
	if all != nil && all.Kind == jsonedit.String {
		return []rule{openCodeRule("*", "*", all.Text, all.Start)}
	}
	for _, tool := range itemsOf(all) {
		if tool.Value.Kind == jsonedit.String {
			rules = append(rules, openCodeRule(tool.Key, "*", tool.Value.Text, tool.Start))
			continue
		}
		for _, it := range itemsOf(tool.Value) {
			rules = append(rules, openCodeRule(tool.Key, it.Key, it.Value.Text, it.Start))
		}
	}
	for _, n := range n.Get("permissions").Elements() {
		rules = append(rules, openCodeRule(n.Str("action"), n.Str("resource"), n.Str("effect"), n.Start))
	}
	return rules
}

func itemsOf(n *jsonedit.Node) []jsonedit.Item {
	if n == nil || n.Kind != jsonedit.Object {
		return nil
	}
	return n.Items
}

// openCodeTools maps the actions of OpenCode to tools of Claude Code.
var openCodeTools = map[string]string{"bash": "Bash", "shell": "Bash", "read": "Read", "glob": "Read", "grep": "Read", "list": "Read", "edit": "Edit", "task": "Agent",
	"subagent": "Agent", "skill": "Skill", "webfetch": "WebFetch", "websearch": "WebSearch", "*": "*"}

// openCodeHost finds the host in a pattern of addresses that matches a whole host.
var openCodeHost = regexp.MustCompile(`^(?:https?\*?|\*)://([\w.-]+)/?\*$`)

// openCodeRule returns the rule for an action and a pattern, with a specifier in Claude Code's
// form.
func openCodeRule(action, pattern, effect string, at int) rule {
	r := rule{at: at, action: action, effect: effectOf(effect, "deny", "ask"), tool: cmp.Or(openCodeTools[action], action), spec: strings.ReplaceAll(pattern, "?", "*")}
	if r.tool == "Read" || r.tool == "Edit" {
		r.spec = folderPattern(r.spec)
	}
	if r.spec == "*" || r.spec == "**" || r.tool == "*" {
		r.spec = ""
	}
	if r.tool == "WebFetch" && r.spec != "" {
		host := openCodeHost.FindStringSubmatch(r.spec)
		if host == nil {
			r.action = "webfetch " + pattern // a pattern of addresses
		} else {
			r.spec = "domain:" + host[1]
		}
	}
	return r
}

// effectOf returns the effect of a harness's word, given its words for deny and ask. Any other word
// allows.
func effectOf(word, deny string, ask ...string) cardea.Effect {
	switch {
	case word == deny:
		return cardea.Deny
	case slices.Contains(ask, word):
		return cardea.Ask
	}
	return cardea.Allow
}

// folderPattern returns a gitignore pattern for one whose * crosses slashes.
func folderPattern(s string) string {
	if !strings.Contains(s, "/") || !strings.Contains(s, "*") {
		return s
	}
	var out []string
	for i, seg := range strings.Split(s, "/") {
		switch {
		case seg == "*":
			seg = "**"
		case strings.Contains(seg, "*") && i > 0:
			seg = "**/" + seg
		}
		out = append(out, seg)
	}
	return strings.Join(out, "/")
}

// amp reads amp.permissions: the first rule that matches wins.
func (t *translation) amp() {
	var before []rule
	for _, n := range t.root().Get("amp.permissions").Elements() {
		r := rule{at: n.Start, effect: effectOf(n.Str("action"), "reject", "ask", "delegate")}
		r.tool, _ = harness.ToolWord(n.Str("tool"))
		if r.tool == "shell_command" {
			r.tool = "Bash"
		}
		specs, ok := []string{""}, true
		for _, it := range itemsOf(n.Get("matches")) {
			if specs, ok = globsOf(it.Value); !ok || r.tool != "Bash" || it.Key != "cmd" && it.Key != "command" {
				ok = false
				break
			}
		}
		if !ok {
			if r.effect != cardea.Allow {
				t.untranslated(n.Start, "the rule for "+r.tool+" compares what is not a command, or by an expression")
			}
			continue
		}
		for _, s := range specs {
			r.spec = s
			t.add(r, before)
			before = append(before, r)
		}
	}
}

func globsOf(n *jsonedit.Node) ([]string, bool) {
	words, ok := n.Words()
	if n.Kind == jsonedit.String {
		words, ok = []string{n.Text}, true
	}
	for _, w := range words {
		ok = ok && !(len(w) > 1 && strings.HasPrefix(w, "/") && strings.HasSuffix(w, "/"))
	}
	return words, ok && len(words) > 0
}

// augment reads toolPermissions: the first rule that matches wins.
func (t *translation) augment() {
	var before []rule
	for _, n := range t.root().Get("toolPermissions").Elements() {
		name := n.Str("toolName")
		r := rule{at: n.Start, effect: effectOf(n.Get("permission").Str("type"), "deny", "ask-user"), tool: cmp.Or(augmentTools[name], name)}
		if n.Str("shellInputRegex") != "" {
			if r.effect != cardea.Allow {
				t.untranslated(n.Start, "the rule for "+r.tool+" compares by an expression")
			}
			continue
		}
		t.add(r, before)
		before = append(before, r)
	}
}

// augmentTools maps the tools of Augment to tools of Claude Code.
var augmentTools = map[string]string{"launch-process": "Bash", "view": "Read", "str-replace-editor": "Edit", "remove-files": "Edit", "save-file": "Write"}
