package importer

import (
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/document"
	"cardea.dev/internal/harness"
)

// custom is one of Bouncer's custom rules.
type custom struct {
	id, action, pattern, reason string
	tools                       []string
}

// rule takes over a custom rule: {name, toolMatch, pattern, action, reason}.
func (b *bouncer) rule(v document.Value) {
	m := open(v)
	c := custom{pattern: m.get("pattern").Text(), reason: m.get("reason").Text()}
	name := m.get("name")
	enabled := true
	if e := m.get("enabled"); e.Present() {
		enabled = e.Bool()
	}
	var known bool
	c.action, known = action(m.get("action").Text())
	match := m.get("toolMatch", "tool")
	m.done()
	if !enabled {
		v.Warn(cardea.CodeNotConverted, "nothing to do", "rule %q was switched off, and is not imported", name.Text())
		return
	}
	if !known {
		m.get("action").Problem(cardea.CodeBadValue, "use deny, ask or allow", "rule %q has the action %q", name.Text(), m.get("action").Text())
		return
	}
	if c.pattern == "" {
		v.Problem(cardea.CodeMissing, "give it a pattern", "rule %q has no pattern", name.Text())
		return
	}
	if err := rules.CheckExpression(c.pattern); err != nil {
		m.get("pattern").Problem(cardea.CodeBadPattern, rules.ExpressionHint(err), "rule %q is left out: its pattern cannot be run: %v", name.Text(), err)
		return
	}
	var ok bool
	if c.tools, ok = b.tools(match, name.Text()); !ok {
		return
	}
	c.id = b.id(name.Text())
	text, ok := c.write(v)
	if ok {
		b.rules = append(b.rules, text)
	}
}

// action is an action in Cardea's words.
func action(word string) (string, bool) {
	switch strings.ToLower(word) {
	case "deny", "block":
		return "deny", true
	case "ask", "prompt":
		return "ask", true
	case "allow", "approve":
		return "allow", true
	}
	return "", false
}

// id makes an id of a name, and no two the same.
func (b *bouncer) id(name string) string {
	var s strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_':
			s.WriteRune(r)
		case !strings.HasSuffix(s.String(), "-"):
			s.WriteByte('-')
		}
	}
	id := strings.Trim(s.String(), "-")
	id = "bouncer-" + id[:min(len(id), 80)]
	id = strings.TrimRight(id, "-")
	for b.ids[id] {
		id += "-2"
	}
	b.ids[id] = true
	return id
}

// tools reads toolMatch: a name, several with "|" or ",", or an expression as
// simple as "mcp__github__.*". None is every tool.
func (b *bouncer) tools(v document.Value, rule string) (out []string, ok bool) {
	for _, word := range strings.FieldsFunc(v.Text(), func(r rune) bool { return r == '|' || r == ',' }) {
		word = strings.NewReplacer(".*", "*", "^", "", "$", "", "(?i)", "", "(", "", ")", "").Replace(strings.TrimSpace(word))
		if word == "*" {
			return nil, true
		}
		if word == "" || strings.ContainsAny(word, `\[]{}+?.`) {
			v.Problem(cardea.CodeNotConverted, "name the tools, with * at most", "rule %q is left out: %q cannot be taken over", rule, v.Text())
			return nil, false
		}
		name, known := canonical(word)
		switch {
		case !known && strings.HasPrefix(word, "mcp__"):
			v.Warn(cardea.CodeOtherMeaning, "look at it with cardea list", "rule %q did nothing in Bouncer, which dropped rules for MCP tools; now it speaks", rule)
		case !known:
			v.Warn(cardea.CodeUnknownName, "compare it with what cardea try --tool shows", "rule %q is about %q, which is no tool that Cardea knows", rule, word)
		case filesField(name) != "" || name == "WebFetch":
			v.Warn(cardea.CodeOtherMeaning, "look at it with cardea list", "rule %q did nothing on Claude Code, whose %s has other fields than Bouncer reads; now it speaks", rule, name)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, true
}

// canonical is the canonical name of a tool, in whatever case it is written.
func canonical(word string) (string, bool) {
	for _, t := range harness.Tools() {
		if strings.EqualFold(t.Name, word) {
			return t.Name, true
		}
	}
	if name, ok := harness.ToolWord(strings.ToLower(word)); ok {
		return name, true
	}
	return harness.ToolWord(word)
}

// filesField is the field in which a tool names its file, "" for others.
func filesField(tool string) string {
	switch tool {
	case "Read", "Write", "Edit", "MultiEdit":
		return "file_path"
	case "NotebookEdit":
		return "notebook_path"
	case "Glob", "Grep":
		return "path"
	}
	return ""
}

// fields are the fields that a rule about tools looks at.
func fields(tools []string) []string {
	if len(tools) == 0 {
		return []string{"command", "file_path", "notebook_path", "path", "url", "query"}
	}
	var out []string
	for _, t := range tools {
		var add []string
		switch f := filesField(t); {
		case t == "Bash" || t == "PowerShell" || t == "Monitor":
			add = []string{"command"}
		case t == "WebFetch":
			add = []string{"url"}
		case t == "WebSearch":
			add = []string{"query"}
		case f != "":
			add = []string{f}
		default:
			add = fields(nil)
		}
		for _, f := range add {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// write is the rule as YAML.
func (c custom) write(v document.Value) (string, bool) {
	var s strings.Builder
	s.WriteString("  - id: " + c.id + "\n")
	if len(c.tools) > 0 {
		var q []string
		for _, t := range c.tools {
			q = append(q, quoted(t))
		}
		s.WriteString("    tool: [" + strings.Join(q, ", ") + "]\n")
	}
	s.WriteString("    match:\n")
	if c.action == "allow" {
		if !c.allow(&s, v) {
			return "", false
		}
	} else {
		// Part by part, so that "^rm" is found behind "&&", and in the raw
		// text as before.
		s.WriteString("      any:\n        - pattern: " + quoted(c.pattern) + "\n")
		for _, f := range fields(c.tools) {
			s.WriteString("        - {field: " + f + ", pattern: " + quoted(c.pattern) + "}\n")
		}
	}
	s.WriteString("    effect: " + c.action + "\n")
	if c.reason != "" {
		s.WriteString("    message: " + quoted(c.reason) + "\n")
	}
	return s.String(), true
}

// allow writes the match of a rule that allows. It must not allow more than
// the words of the pattern: the whole part, with no option but those that the
// pattern spells out.
func (c custom) allow(s *strings.Builder, v document.Value) bool {
	whole := "^(?:" + c.pattern + ")$"
	switch {
	case len(c.tools) == 1 && (c.tools[0] == "Bash" || c.tools[0] == "Monitor"):
		s.WriteString("      pattern: " + quoted(whole) + "\n")
		if flags := named(c.pattern); len(flags) > 0 {
			var q []string
			for _, f := range flags {
				q = append(q, quoted(f))
			}
			s.WriteString("      flags: [" + strings.Join(q, ", ") + "]\n")
		}
		v.Warn(cardea.CodeOtherMeaning, "add options to flags: as you need them", "rule %s allows: its pattern must match a whole command now, and options only if they are in flags", c.id)
	case len(c.tools) == 1 && c.tools[0] == "WebFetch":
		s.WriteString("      field: url\n      pattern: " + quoted(whole) + "\n")
		v.Warn(cardea.CodeOtherMeaning, "add what may follow to the pattern", "rule %s allows: its pattern must match the whole address now", c.id)
	default:
		v.Warn(cardea.CodeNotConverted, "write path: with access:, one rule for one tool", "rule %s is left out: an expression about paths or several tools would allow more than it says", c.id)
		return false
	}
	return true
}

// named are the options that a pattern spells out.
func named(pattern string) []string {
	re := regexp.MustCompile(`(?:^|[\s(|])(--?[A-Za-z][A-Za-z0-9-]*)`)
	var out []string
	for _, m := range re.FindAllStringSubmatch(strings.ReplaceAll(pattern, `\s`, " "), -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}
