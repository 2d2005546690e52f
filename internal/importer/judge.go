package importer

import (
	"fmt"
	"strings"

	"cardea.dev/internal/document"
)

// judge reads llmFallback. This version asks no model, so what it says is kept as
// a comment in the settings, in the keys that it will have.
func (b *bouncer) judge(top section) {
	v := top.get("llmFallback", "llm", "judge")
	m := open(v)
	on := true // as in Bouncer, which begins with its own defaults
	if e := m.get("enabled"); e.Present() {
		on = e.Bool()
	}
	lines, threshold := []string{fmt.Sprintf("enabled: %t", on)}, ""
	if t := m.get("maxTokens"); t.Present() {
		lines = append(lines, fmt.Sprintf("max_tokens: %d", t.Int(1, 1_000_000)))
	}
	if t := m.get("confidenceThreshold"); t.Present() {
		threshold = fmt.Sprintf("# confidence: {project: %[1]s, user: %[1]s}\n", oneLine(t.Text()))
	}
	chain := m.get("providerChain", "providers")
	if !chain.Present() {
		chain = top.get("providerChain", "providers")
	}
	providers := b.providers(chain)
	m.done()
	if len(providers) > 0 {
		lines = append(append(lines, "chain:"), providers...)
	}
	if !on && len(providers) == 0 {
		b.left(v, "llmFallback", "it was switched off")
		return
	}
	b.later = "# Imported from Bouncer. It has no effect until Cardea has a judge.\n# judge:\n#   " + strings.Join(lines, "\n#   ") + "\n" + threshold
	add := b.left
	if on {
		add = b.lost
	}
	var at place // none where Bouncer's defaults count
	for _, there := range []document.Value{chain, v} {
		if there.Present() {
			at = there
		}
	}
	now := "the agent's own prompt decides"
	switch {
	case b.fallback == "deny":
		now = "it is denied (default: deny)"
	case b.fallback == "ask":
		now = "a person is asked (default: ask)"
	case b.fallback == "allow" && b.options.DefaultAllow:
		now = "it is allowed (default: allow)"
	}
	add(at, "llmFallback", "until Cardea has a judge, no model looks at what no rule matches: %s. What the file says is kept as a comment in cardea.yaml", now)
}

// providers are the entries of a chain, first to last.
func (b *bouncer) providers(chain document.Value) []string {
	if !chain.Present() {
		return nil
	}
	var out []string
	for _, v := range chain.List() {
		if !v.IsMap() {
			out = append(out, "  - {type: "+quoted(v.Text())+"}")
			continue
		}
		m := open(v)
		fields := []string{"type: " + quoted(m.get("type", "name").Text())}
		for _, f := range []struct{ key, names string }{{"model", "model"}, {"endpoint", "endpoint baseUrl"}, {"api_key_command", "apiKeyCommand"}} {
			if t := m.get(strings.Fields(f.names)...); t.Present() {
				fields = append(fields, f.key+": "+quoted(t.Text()))
			}
		}
		if t := m.get("timeoutSeconds"); t.Present() {
			fields = append(fields, fmt.Sprintf("timeout: %ds", t.Int(1, 3600)))
		}
		if t := m.get("apiKey"); t.Present() {
			b.left(t, "apiKey", "keys are not kept in settings; use api_key_command or a variable")
		}
		m.done()
		out = append(out, "  - {"+strings.Join(fields, ", ")+"}")
	}
	return out
}
