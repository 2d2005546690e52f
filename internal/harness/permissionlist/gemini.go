package permissionlist

import (
	"sort"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// gemini reads a policy of Gemini CLI: [[rule]] tables of TOML, of which the
// one with the highest priority wins.
func (t *translation) gemini() {
	type table struct {
		at       int
		priority int
		values   map[string][]string
	}
	var tables []table
	r := toml{text: string(t.data)}
	for r.next() {
		if r.header != "" {
			if r.header == "[[rule]]" {
				tables = append(tables, table{at: r.at, values: map[string][]string{}})
			}
			continue
		}
		if r.bad {
			t.untranslated(r.at, "the line is not written in the TOML that is read here")
			continue
		}
		if n := len(tables); n > 0 && r.table == "[[rule]]" {
			tables[n-1].values[r.key] = r.values
			if r.key == "priority" && len(r.values) > 0 {
				tables[n-1].priority, _ = strconv.Atoi(r.values[0])
			}
		}
	}
	sort.SliceStable(tables, func(i, j int) bool { return tables[i].priority > tables[j].priority })
	var before []rule
	for _, tb := range tables {
		rules, ok := geminiRules(tb.values, tb.at)
		if !ok {
			t.untranslated(tb.at, "the rule compares by an expression, or with what is not known here")
		}
		for _, x := range rules {
			t.add(x, before)
		}
		before = append(before, rules...)
	}
}

// geminiRules returns the rules of a table; ok is false if one that denies or asks cannot be
// translated.
func geminiRules(v map[string][]string, at int) (out []rule, ok bool) {
	r := rule{at: at, effect: effectOf(strings.Join(v["decision"], ""), "deny", "ask_user")}
	for _, key := range []string{"argsPattern", "commandRegex", "mcpName", "subagent", "toolAnnotations"} {
		if _, there := v[key]; there {
			return nil, r.effect == cardea.Allow
		}
	}
	if _, there := v["modes"]; there && r.effect == cardea.Allow {
		return nil, true // it does not always win
	}
	tools := v["toolName"]
	if len(tools) == 0 && len(v["commandPrefix"]) > 0 {
		tools = []string{"run_shell_command"}
	}
	for _, tool := range tools {
		r.tool, _ = harness.ToolWord(tool)
		if strings.HasPrefix(tool, "mcp_") && !strings.HasPrefix(tool, "mcp__") {
			return out, r.effect == cardea.Allow
		}
		if r.tool != "Bash" || len(v["commandPrefix"]) == 0 {
			out = append(out, r)
			continue
		}
		for _, p := range v["commandPrefix"] {
			r.spec = p + ":*"
			out = append(out, r)
		}
	}
	return out, len(tools) > 0 || r.effect == cardea.Allow
}

// toml reads the lines of a TOML file as far as policies need it: headers, and keys with texts,
// numbers, truth values and lists of them.
type toml struct {
	text string
	pos  int

	// The line that was read: its offset, the header, or the key with its values and the header
	// that applies to it.
	at          int
	header, key string
	values      []string
	bad         bool
	table       string
}

// next reads a line, or a list over several lines.
func (r *toml) next() bool {
	for r.pos < len(r.text) {
		r.at = r.pos
		line := r.line()
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		r.header, r.key, r.values, r.bad = "", "", nil, false
		if line[0] == '[' {
			r.header, _, _ = strings.Cut(line, "#")
			r.header = strings.ReplaceAll(strings.TrimSpace(r.header), " ", "")
			r.table = r.header
			return true
		}
		key, value, ok := strings.Cut(line, "=")
		for ok && strings.HasPrefix(strings.TrimSpace(value), "[") && !closed(value) && r.pos < len(r.text) {
			value += "\n" + r.line()
		}
		r.key = strings.Trim(strings.TrimSpace(key), `"'`)
		if ok {
			r.values, ok = tomlValues(strings.TrimSpace(value))
		}
		r.bad = !ok
		return true
	}
	return false
}

func (r *toml) line() string {
	line, _, _ := strings.Cut(r.text[r.pos:], "\n")
	r.pos += len(line) + 1
	return line
}

// closed reports whether the list at the beginning of a value is closed.
func closed(value string) bool {
	_, ok := tomlValues(strings.TrimSpace(value))
	return ok
}

// tomlValues reads one value, or a list of plain ones.
func tomlValues(s string) ([]string, bool) {
	if list, ok := strings.CutPrefix(s, "["); ok {
		var out []string
		for {
			list = skipTOML(list)
			if rest, ok := strings.CutPrefix(list, "]"); ok {
				return out, skipTOML(rest) == ""
			}
			v, rest, ok := tomlValue(list)
			if !ok {
				return nil, false
			}
			out = append(out, v)
			list = strings.TrimPrefix(skipTOML(rest), ",")
		}
	}
	if strings.HasPrefix(s, "{") {
		return nil, true // an inline table, which is not read
	}
	v, rest, ok := tomlValue(s)
	return []string{v}, ok && skipTOML(rest) == ""
}

func skipTOML(s string) string {
	for {
		s = strings.TrimSpace(s)
		if !strings.HasPrefix(s, "#") {
			return s
		}
		_, s, _ = strings.Cut(s, "\n")
	}
}

// tomlValue reads one plain value. It rejects texts over several lines.
func tomlValue(s string) (value, rest string, ok bool) {
	switch {
	case s == "" || strings.HasPrefix(s, `"""`) || strings.HasPrefix(s, "'''"):
		return "", s, false
	case s[0] == '\'':
		value, rest, ok = strings.Cut(s[1:], "'")
		return value, rest, ok && !strings.Contains(value, "\n")
	case s[0] == '"':
		for i := 1; i < len(s) && s[i] != '\n'; i++ {
			if s[i] == '\\' {
				i++
			} else if s[i] == '"' {
				value, err := strconv.Unquote(s[:i+1])
				return value, s[i+1:], err == nil
			}
		}
		return "", s, false
	}
	end := strings.IndexAny(s, ",]# \t\r\n")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], end > 0
}
