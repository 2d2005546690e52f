package rules

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// fieldValues returns the values of a field of the tool input. A dotted name selects fields
// of maps and of all elements of lists, so that "edits.new_string" is the text of every
// edit. A key that contains dots itself takes precedence. shadowed adds the values of
// duplicate and case-variant keys.
func fieldValues(c *cardea.Call, field string, shadowed bool) []any {
	out := within(c.Input, field)
	if shadowed {
		for key, vals := range c.Shadowed {
			for _, v := range vals {
				out = append(out, within(map[string]any{key: v}, field)...)
			}
		}
	}
	return out
}

// within returns the values of a field of v, or nil.
func within(v any, field string) []any {
	switch v := v.(type) {
	case map[string]any:
		if got, ok := v[field]; ok {
			return []any{got}
		}
		first, rest, dotted := strings.Cut(field, ".")
		if got, ok := v[first]; ok && dotted {
			return within(got, rest)
		}
	case []any:
		first, rest, dotted := strings.Cut(field, ".")
		if n, err := strconv.Atoi(first); err == nil {
			if n < 0 || n >= len(v) {
				return nil
			}
			if !dotted {
				return []any{v[n]}
			}
			return within(v[n], rest)
		}
		return slices.Concat(lists.Of(v, func(e any) []any { return within(e, field) })...)
	}
	return nil
}

// valueText returns the text of a value that a pattern is matched with: a string itself,
// any other value as compact JSON.
func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// textsFor returns the texts of part i in which the rule looks for its pattern. Built-in
// rules use only the canonical one.
func (c *evaluation) textsFor(i int) []string {
	if c.rule != nil && c.rule.Scope == cardea.ScopeBuiltin {
		return c.spellings(i)[:1]
	}
	return c.spellings(i)
}

// spellings returns the texts of part i in which patterns are looked for. They include the
// home folder under each of its names. They are computed once for all rules.
func (c *evaluation) spellings(i int) []string {
	if c.spelled == nil {
		c.spelled = make([][]string, len(c.ev.Call.Parts))
	}
	if c.spelled[i] == nil {
		p := &c.ev.Call.Parts[i]
		if c.spelled[i] = p.Spellings(); p.Typed != "" && p.Typed != p.Text {
			c.spelled[i] = append(c.spelled[i], p.Typed)
		}
		if home := c.d.settings.Home; home != "" && strings.Contains(p.Text, home) {
			at := regexp.MustCompile(`(^|[\s=:'"])` + regexp.QuoteMeta(home) + `\b`)
			for _, name := range [...]string{"~", "$$HOME", "$${HOME}"} {
				c.spelled[i] = append(c.spelled[i], at.ReplaceAllString(p.Text, "${1}"+name))
			}
		}
	}
	return c.spelled[i]
}
