package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/document"
	"cardea.dev/internal/evidence"
)

// Cupcake reads a rulebook.yml. Policies need no translation, so that all there
// is to give are settings: signals and actions as they are, and what built-in
// policies are called here.
func Cupcake(path string, data []byte) Imported {
	r := document.Read(path, data)
	c := cupcake{path: path, out: Imported{}}
	top := r.Top().Map()
	c.signals(top.Map("signals"))
	c.actions(top.Map("actions"))
	c.builtins(top.Map("builtins"))
	if w := top.Get("watchdog"); w.Present() {
		c.note(w, "the watchdog is a model that judges calls, which Cardea does in a stage of its own; it is not taken over")
	}
	top.Get("version")
	top.Done()
	c.out.Settings = append(c.settings(), c.out.Settings...)
	c.out.Notes = append(c.out.Notes, r.Problems()...)
	return c.out
}

type cupcake struct {
	path string
	out  Imported
	// checks, protected, context and packs are of built-in policies.
	checks, protected, context, packs []string
}

func (c *cupcake) note(at document.Value, format string, args ...any) {
	c.out.Notes = append(c.out.Notes, cardea.Diagnostic{File: c.path, Line: at.Line(), Column: at.Column(), Severity: cardea.LevelWarning, Code: cardea.CodeNotConverted, Text: fmt.Sprintf(format, args...)})
}

// settings are the lines about built-in policies.
func (c *cupcake) settings() []string {
	var out []string
	if len(c.packs) > 0 {
		out = append(out, "packs: {"+strings.Join(c.packs, ", ")+"}")
	}
	if len(c.checks)+len(c.protected)+len(c.context) == 0 {
		return out
	}
	out = append(out, "policies:")
	for _, l := range []struct {
		key   string
		words []string
	}{{"checks", c.checks}, {"protected", c.protected}, {"context", c.context}} {
		if len(l.words) > 0 {
			out = append(out, "  "+l.key+":")
			for _, w := range l.words {
				out = append(out, "    - "+quoted(w))
			}
		}
	}
	return out
}

func (c *cupcake) signals(m document.Map) {
	names := m.Keys()
	if len(names) == 0 {
		return
	}
	c.out.Settings = append(c.out.Settings, "signals:")
	for _, name := range names {
		s := m.Get(name)
		command, limit := "", 5
		if s.IsMap() {
			inner := s.Map()
			command = inner.Need("command").Text()
			if t := inner.Get("timeout_seconds"); t.Present() {
				limit = t.Int(1, 600)
			}
			inner.Done()
		} else {
			command = s.Text()
		}
		c.out.Settings = append(c.out.Settings, fmt.Sprintf("  %s: {command: %s, timeout_seconds: %d}", quoted(name), quoted(command), limit))
	}
}

func (c *cupcake) actions(m document.Map) {
	var lines []string
	for _, key := range []string{"on_any_denial", "on_halt", "on_ask"} {
		if list := c.commands(m.Get(key)); len(list) > 0 {
			lines = append(lines, "  "+key+":")
			lines = append(lines, list...)
		}
	}
	// What hangs on one rule stands under by_rule_id in newer versions.
	for _, key := range []string{"violations", "by_rule_id"} {
		rules := m.Map(key)
		for i, id := range rules.Keys() {
			if i == 0 {
				lines = append(lines, "  violations:")
			}
			lines = append(lines, "    "+quoted(id)+":")
			for _, l := range c.commands(rules.Get(id)) {
				lines = append(lines, "  "+l)
			}
		}
	}
	m.Done()
	if len(lines) > 0 {
		c.out.Settings = append(append(c.out.Settings, "actions:"), lines...)
	}
}

func (c *cupcake) commands(v document.Value) []string {
	var out []string
	if !v.Present() {
		return nil
	}
	for _, e := range v.Items() {
		command := ""
		if e.IsMap() {
			m := e.Map()
			command = m.Need("command").Text()
			m.Done()
		} else {
			command = e.Text()
		}
		out = append(out, "    - command: "+quoted(command))
	}
	return out
}

// builtins says what Cupcake's built-in policies are here.
func (c *cupcake) builtins(m document.Map) {
	always := []string{"git_block_no_verify", "rulebook_security_guardrails", "system_protection", "sensitive_data_protection", "cupcake_exec_protection"}
	for _, name := range m.Keys() {
		v := m.Get(name)
		if !v.IsMap() {
			continue
		}
		b := v.Map()
		if e := b.Get("enabled"); e.Present() && !e.Bool() {
			continue
		}
		switch name {
		case "git_pre_check":
			c.checks = append(c.checks, c.listed(b, "checks", "command")...)
			wrong := evidence.Mistakes(c.checks)
			for _, check := range slices.Sorted(maps.Keys(wrong)) {
				c.note(v, "the check %q can never hold: %s", check, wrong[check])
			}
			c.note(v, "the checks of git_pre_check are settled by evidence: they must have run since the last change, and are not run by the gate")
		case "protected_paths":
			c.protected = append(c.protected, c.listed(b, "paths", "path")...)
		case "claude_code_always_inject_on_prompt", "always_inject_on_prompt", "opencode_always_inject_on_prompt":
			c.context = append(c.context, c.listed(b, "context", "content")...)
		case "claude_code_enforce_full_file_read", "enforce_full_file_read":
			c.packs = append(c.packs, "full-reads: on")
		case "post_edit_check":
			c.note(v, "post_edit_check is not taken over: write a script that looks at the edited file, and make it the signal validate")
		default:
			if slices.Contains(always, name) {
				c.note(v, "%s needs no setting: rules that are built in cover it; see \"cardea list\"", name)
			} else {
				c.note(v, "%s is not taken over: Cardea has nothing like it", name)
			}
			continue
		}
		for _, key := range b.Keys() {
			if !slices.Contains([]string{"enabled", "checks", "paths", "context"}, key) {
				c.note(b.Get(key), "%s of %s is not taken over", key, name)
			}
		}
	}
}

// listed are the texts of a list, or one field of its maps.
func (c *cupcake) listed(b document.Map, key, field string) []string {
	var out []string
	for _, e := range b.Get(key).Items() {
		if !e.IsMap() {
			out = append(out, e.Text())
			continue
		}
		m := e.Map()
		if text := m.Get(field); text.Present() {
			out = append(out, text.Text())
		} else {
			c.note(e, "an entry of %s is not taken over: it has no %s; what a command says can be told by a policy with a signal", key, field)
		}
	}
	return out
}
