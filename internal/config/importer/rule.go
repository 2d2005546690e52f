package importer

import (
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/command/lookaround"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
)

// custom is one of Bouncer's custom rules.
type custom struct {
	// what is its name in the table.
	what, id, action, pattern, reason string
	tools                             []string
	// rewritten is set if the pattern had lookaround.
	rewritten bool
}

// rule imports a custom rule: {name, toolMatch, pattern, action, reason}.
func (b *bouncer) rule(i int, v document.Value) {
	m := open(v)
	name := m.get("name").Text()
	what := fmt.Sprintf("customRules[%d] %q", i, name)
	c := custom{what: what, pattern: m.get("pattern").Text(), reason: m.get("reason").Text()}
	enabled := m.enabled()
	word := m.get("action").Text()
	known := true
	if c.action = "deny"; word != "" {
		c.action, known = actions[strings.ToLower(word)]
	}
	match := m.get("toolMatch", "tool")
	m.done()
	lose := b.lost
	if c.action == "allow" {
		lose = b.left
	}
	c.pattern = withoutDotNet(c.pattern, c.action)
	err := c.withoutLookahead()
	var why string
	c.tools, why = b.tools(match)
	switch {
	case !enabled:
		b.left(v, what, "it was switched off")
	case !known:
		b.lost(v, what, "%q is no action; use deny, ask or allow", word)
	case c.pattern == "":
		b.lost(v, what, "it has no pattern")
	case err != nil:
		lose(v, what, "its pattern cannot be run: %v; %s", err, rules.ExpressionHint(rules.CheckExpression(c.pattern)))
	case why != "":
		lose(v, what, "%s", why)
	default:
		c.id = b.id(name)
		b.take(v, what, &c)
	}
}

// take adds a rule that can be imported.
func (b *bouncer) take(v document.Value, what string, c *custom) {
	b.customs = append(b.customs, c)
	text, changes := c.write()
	if text == "" {
		b.left(v, what, "an expression about paths or several tools would allow more than it says; write path: with access:, one rule for one tool")
		return
	}
	if c.action == "allow" && b.options.TooWide != nil {
		if why := b.options.TooWide(text); why != "" {
			b.left(v, what, "%s", why)
			return
		}
	}
	b.rules = append(b.rules, text)
	for _, example := range c.calls() {
		b.call(example, false)
	}
	if unknown := c.unknown(); len(unknown) > 0 && c.action != "allow" {
		b.lost(v, what, "Cardea does not know the tool %s, so rule %s may never speak; name the tool as \"cardea try --tool\" does", strings.Join(unknown, ", "), c.id)
	}
	if c.rewritten {
		changes = append(changes, "its pattern is written without lookahead: "+shortened(c.pattern))
	}
	if changes = append(changes, c.deadInBouncer(b.off)...); len(changes) > 0 {
		b.changed(v, what, "rule %s: %s", c.id, strings.Join(changes, "; "))
		return
	}
	b.taken(v, what, "rule %s", c.id)
}

// longPattern is the maximum length of a pattern in the table in bytes. Without lookahead,
// patterns can have thousands.
const longPattern = 100

// shortened returns a pattern for the table.
func shortened(pattern string) string {
	if len(pattern) <= longPattern {
		return pattern
	}
	return fmt.Sprintf("%s… (%d characters)", strings.ToValidUTF8(pattern[:longPattern], ""), len([]rune(pattern)))
}

// withoutDotNet rewrites syntax of .NET: \Z, the end of the text, and atomic groups. Atomic
// groups match less than plain ones, so they stay in a rule that allows.
func withoutDotNet(pattern, action string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch {
		case strings.HasPrefix(rest, `\Z`):
			b.WriteString(`(?:\n?\z)`)
			i++
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		case strings.HasPrefix(rest, "(?>") && action != "allow":
			b.WriteString("(?:")
			i += len("(?>") - 1
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

// withoutLookahead rewrites the pattern for RE2.
func (c *custom) withoutLookahead() error {
	err := rules.CheckExpression(c.pattern)
	if err == nil {
		return nil
	}
	text, failed := lookaround.Remove(c.pattern, true)
	if failed != nil || !lookaround.Has(c.pattern) {
		return err
	}
	c.pattern, c.rewritten = text, true
	return nil
}

// deadInBouncer returns where the rule had no effect in Bouncer. off holds the disabled
// groups.
func (c *custom) deadInBouncer(off []string) (out []string) {
	if len(c.tools) == 0 {
		return []string{"it did nothing in Bouncer, which does not know every tool; now it speaks"}
	}
	for _, t := range c.tools {
		switch {
		case strings.HasPrefix(t, "mcp__"):
			out = append(out, "it did nothing in Bouncer, which drops rules for MCP tools; now it speaks")
		case t == "Glob" || t == "Grep":
			if c.action != "allow" && !slices.Contains(off, "builtins") {
				out = append(out, fmt.Sprintf("it did nothing in Bouncer, whose group builtins allows every %s before; now it speaks", t))
			}
		case filesField[t] != "" || t == "WebFetch":
			out = append(out, fmt.Sprintf("it did nothing on Claude Code, whose %s has other fields than Bouncer reads; now it speaks", t))
		}
	}
	return out
}

// unknown returns the words of the rule that name no known tool.
func (c *custom) unknown() (out []string) {
	for _, word := range c.tools {
		matches := func(t harness.ToolInfo) bool {
			is, _ := path.Match(word, t.Name) // its only wildcard is *
			return is
		}
		if !strings.HasPrefix(word, "mcp__") && !matches(harness.ToolInfo{Name: "mcp__"}) && !slices.ContainsFunc(harness.Tools(), matches) {
			out = append(out, strconv.Quote(word))
		}
	}
	return out
}

// calls returns sample calls that the rule matches.
func (c *custom) calls() []TrialCall {
	text := sample(c.pattern)
	if text == "" {
		return nil
	}
	tools := c.tools
	if len(tools) == 0 {
		tools = []string{"Bash"}
	}
	var out []TrialCall
	for _, t := range tools {
		if _, known := harness.Tool(t); known && t != patchTool {
			out = append(out, call(t, fields([]string{t})[0], text, c.action))
		}
	}
	return out
}

// actions maps Bouncer's actions to Cardea's.
var actions = map[string]string{"deny": "deny", "block": "deny", "ask": "ask", "prompt": "ask", "allow": "allow", "approve": "allow"}

// id returns a unique id for a name.
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
	id = b.options.Name + "-" + id[:min(len(id), 80)]
	id = strings.TrimRight(id, "-")
	for b.ids[id] {
		id += "-2"
	}
	b.ids[id] = true
	return id
}

// tools parses toolMatch: a name, several with "|" or ",", or a simple expression such as
// "mcp__github__.*". No names mean every tool. why is the reason if it cannot be imported.
func (b *bouncer) tools(v document.Value) (out []string, why string) {
	for _, word := range strings.FieldsFunc(v.Text(), func(r rune) bool { return r == '|' || r == ',' }) {
		word = strings.NewReplacer(".*", "*", "^", "", "$", "", "(?i)", "", "(", "", ")", "").Replace(strings.TrimSpace(word))
		if word == "*" {
			return nil, ""
		}
		if word == "" || strings.ContainsAny(word, `\[]{}+?.`) {
			return nil, fmt.Sprintf("its toolMatch %q cannot be taken over; name the tools, with * at most", v.Text())
		}
		out = with(out, meant(word)...)
	}
	return out, ""
}

// with adds texts to a list, without duplicates.
func with(list []string, more ...string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// patchTool also edits files. Its input names them in a text.
const patchTool = "apply_patch"

// meant returns the tools that Bouncer means by a word. It has one name for the Windows
// shells, and one for the editing tools.
func meant(word string) []string {
	switch name := canonical(word); {
	case strings.EqualFold(name, "pwsh"):
		return []string{"PowerShell"}
	case name == "Edit" || name == patchTool:
		return []string{"Edit", patchTool}
	default:
		return []string{name}
	}
}

// canonical returns the canonical name of a tool, regardless of case.
func canonical(word string) string {
	for _, t := range harness.Tools() {
		if strings.EqualFold(t.Name, word) {
			return t.Name
		}
	}
	if name, ok := harness.ToolWord(strings.ToLower(word)); ok {
		return name
	}
	name, _ := harness.ToolWord(word)
	return name
}

// filesField maps tools to the field with their file.
var filesField = map[string]string{"Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path",
	"Glob": "path", "Grep": "path"}

// otherFields maps other tools, and tools that search by a pattern, to their fields. The
// files of a patch are parts of the call.
var otherFields = map[string][]string{"Bash": {"command"}, "PowerShell": {"command"}, "Monitor": {"command"}, "WebFetch": {"url"}, "WebSearch": {"query"},
	"Glob": {"pattern", "path"}, "Grep": {"pattern", "path"}, patchTool: {}}

// fields returns the fields that a rule about tools checks.
func fields(tools []string) []string {
	if len(tools) == 0 {
		return []string{"command", "file_path", "notebook_path", "path", "pattern", "url", "query"}
	}
	var out []string
	for _, t := range tools {
		add, known := otherFields[t]
		if f := filesField[t]; !known && f != "" {
			add = []string{f}
		} else if !known {
			add = fields(nil)
		}
		out = with(out, add...)
	}
	return out
}

// write returns the rule as YAML and what changed. text is "" if the rule would allow too
// much.
func (c custom) write() (text string, changes []string) {
	var s strings.Builder
	s.WriteString("  - id: " + c.id + "\n")
	if len(c.tools) > 0 {
		s.WriteString("    tool: [" + quotedList(c.tools) + "]\n")
	}
	s.WriteString("    match:\n")
	if c.action == "allow" {
		if changes = c.allow(&s); changes == nil {
			return "", nil
		}
	} else {
		// Matches each part, so that "^rm" matches after "&&", and also the raw text as before.
		s.WriteString("      any:\n        - pattern: " + quoted(c.pattern) + "\n")
		if text := inPatch(c.pattern); text != "" && slices.Contains(c.tools, patchTool) {
			s.WriteString("        - pattern: " + quoted(text) + "\n")
		}
		for _, f := range fields(c.tools) {
			s.WriteString("        - {field: " + f + ", pattern: " + quoted(c.pattern) + "}\n")
		}
	}
	s.WriteString("    effect: " + c.action + "\n")
	if c.reason != "" {
		s.WriteString("    message: " + quoted(c.reason) + "\n")
	}
	return s.String(), changes
}

// inPatch returns a pattern that begins at the path of a part of a patch, whose text is
// "edit vendor/a". It returns "" for a pattern without an anchor.
func inPatch(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	verb, _ := syntax.Parse("^(?:create |edit |delete |move to )", syntax.Perl) // never fails
	found := false
	var begin func(t *syntax.Regexp)
	begin = func(t *syntax.Regexp) {
		for i, sub := range t.Sub {
			if sub.Op == syntax.OpBeginText || sub.Op == syntax.OpBeginLine {
				t.Sub[i], found = verb, true
			} else {
				begin(sub)
			}
		}
	}
	begin(tree)
	if !found {
		return ""
	}
	return tree.String()
}

// list joins the results of form for each text with a separator.
func list(texts []string, separator string, form func(string) string) string {
	return strings.Join(lists.Of(texts, form), separator)
}

// quotedList returns texts as the inside of a YAML list.
func quotedList(texts []string) string { return list(texts, ", ", quoted) }

// allow writes the match of a rule that allows. It must not allow more than the pattern
// says: it matches the whole part, with only the options that the pattern names. It returns
// what changed, nil if this is impossible.
func (c custom) allow(s *strings.Builder) []string {
	whole := "^(?:" + c.pattern + ")$"
	switch {
	case len(c.tools) == 1 && (c.tools[0] == "Bash" || c.tools[0] == "Monitor"):
		s.WriteString("      pattern: " + quoted(whole) + "\n")
		if flags := named(c.pattern); len(flags) > 0 {
			s.WriteString("      flags: [" + quotedList(flags) + "]\n")
		}
		return []string{"its pattern must match a whole command, with no options but those in flags; a deny of another rule wins over it"}
	case len(c.tools) == 1 && c.tools[0] == "WebFetch":
		s.WriteString("      field: url\n      pattern: " + quoted(whole) + "\n")
		return []string{"its pattern must match the whole address; a deny of another rule wins over it"}
	}
	return nil
}

// named returns the options that a pattern names.
func named(pattern string) []string {
	re := regexp.MustCompile(`(?:^|[\s(|])(--?[A-Za-z][A-Za-z0-9-]*)`)
	var out []string
	for _, m := range re.FindAllStringSubmatch(strings.ReplaceAll(pattern, `\s`, " "), -1) {
		out = with(out, m[1])
	}
	return out
}
