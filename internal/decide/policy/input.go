package policy

import (
	"strings"
	"unicode"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// Input returns the input of policies. It has Claude Code's format for every harness, the
// original message under raw, and the values of signals under signals. cardea holds
// Cardea's facts about the call, and the settings for policies. signals and settings may be
// nil.
func Input(ev *cardea.Event, signals, settings map[string]any) map[string]any {
	in := map[string]any{}
	raw := map[string]any{}
	if ev.Sent != nil {
		raw = ev.Sent.Fields()
		for key, v := range raw {
			if name := claudeName(ev.Kind, key); name != "" {
				in[name] = v
			}
		}
	}
	in["hook_event_name"], in["session_id"], in["cwd"] = string(ev.Kind), ev.Session, ev.Cwd
	in["permission_mode"] = string(ev.Mode)
	if c := ev.Call; c != nil {
		in["tool_name"], in["tool_input"] = c.Tool, orEmpty(c.Input)
		if said, ok := in["tool_response"].(map[string]any); ok && ev.Harness != "claude-code" {
			in["tool_response"] = claudeResponse(c.Tool, said)
		}
	}
	if ev.Agent != "" {
		in["agent_id"], in["agent_type"] = ev.Agent, ev.AgentType
	}
	own := facts(ev)
	own["settings"] = orEmpty(settings)
	in["raw"], in["signals"], in["cardea"] = raw, orEmpty(signals), own
	return in
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// claudeName returns Claude Code's name for a field of another harness. It returns "" if
// Cardea adds the value in canonical form.
func claudeName(kind cardea.Kind, key string) string {
	switch key {
	case "response":
		if kind == "SubagentStop" {
			return "last_assistant_message"
		}
	case "raw", "signals", "cardea", "toolName", "toolArgs", "toolInput", "tool_name", "tool_input", "hookName", "hook_event_name":
		return ""
	case "toolResult", "tool_result":
		return "tool_response"
	}
	return snake(key)
}

// snake returns a name in Claude Code's spelling: tool_use_id for toolUseId.
func snake(key string) string {
	var b strings.Builder
	for i, c := range key {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// claudeResponse returns a tool's response with Claude Code's names: the text of a shell is
// its stdout. Other values of the harness stay unchanged.
func claudeResponse(tool string, said map[string]any) map[string]any {
	out := make(map[string]any, len(said)+1)
	for key, v := range said {
		out[snake(key)] = v
	}
	if text, ok := out["text_result_for_llm"].(string); ok && tool == "Bash" {
		out["stdout"] = text
	}
	return out
}

// facts returns input.cardea.
func facts(ev *cardea.Event) map[string]any {
	out := map[string]any{
		"harness": ev.Harness, "event": string(ev.Kind), "wire": ev.Wire, "mode": string(ev.Mode), "attended": ev.Attended(),
		"role": ev.Role, "agent": ev.Agent, "agent_type": ev.AgentType, "project": ev.Project,
		"parts": []any{}, "accesses": []any{}, "opaque": spots(ev.Faults, -1), "flows": []any{},
	}
	c := ev.Call
	if c == nil {
		return out
	}
	out["tool"], out["name"], out["known"], out["unsandboxed"] = c.Tool, c.Name, c.Known, c.Unsandboxed
	parts, accesses := make([]any, 0, len(c.Parts)), []any{}
	opaque := append(spots(ev.Faults, -1), spots(c.Opaque, -1)...)
	for i := range c.Parts {
		p := &c.Parts[i]
		parts = append(parts, partFacts(i, p))
		accesses = append(accesses, lists.Of(p.Access, func(a cardea.Access) any { return accessFacts(i, a) })...)
		opaque = append(opaque, spots(p.Opaque, i)...)
	}
	flows := append([]any{}, lists.Of(c.Flows, func(f cardea.Flow) any { return map[string]any{"kind": f.Kind, "from": f.From, "to": f.To} })...)
	out["parts"], out["accesses"], out["opaque"], out["flows"] = parts, accesses, opaque, flows
	return out
}

// partFacts returns part i in the form of input.cardea.parts.
func partFacts(i int, p *cardea.Part) map[string]any {
	argv, static := make([]any, 0, len(p.Argv)), true
	for _, w := range p.Argv {
		argv = append(argv, w.Text)
		static = static && w.Static
	}
	options := make([]any, 0, len(p.Options))
	for _, o := range p.Options {
		known := o.Static || o.Value == "" && o.Word >= 0 && o.Word < len(p.Argv) && p.Argv[o.Word].Static
		options = append(options, map[string]any{"name": o.Name, "value": o.Value, "static": known})
	}
	operands := []any{}
	for _, at := range p.Operands {
		if at >= 0 && at < len(p.Argv) {
			operands = append(operands, p.Argv[at].Text)
		}
	}
	assigns := append([]any{}, lists.Of(p.Assigns, func(a cardea.Assign) any { return map[string]any{"name": a.Name, "value": a.Value, "static": a.Static} })...)
	access := append([]any{}, lists.Of(p.Access, func(a cardea.Access) any { return accessFacts(i, a) })...)
	return map[string]any{
		"index": i, "text": p.Text, "argv": argv, "static": static, "command": words(p.Command), "options": options, "operands": operands,
		"assigns": assigns, "wrappers": words(p.Wrappers), "via": words(p.Via), "dir": p.Dir, "elevated": p.Elevated, "remote": p.Remote,
		"no_effect": p.NoEffect, "coverage": p.Coverage.String(), "knowledge": p.Knowledge.String(), "access": access, "opaque": spots(p.Opaque, i),
	}
}

func words(list []string) []any {
	return append([]any{}, lists.Of(list, func(w string) any { return w })...)
}

func accessFacts(part int, a cardea.Access) map[string]any {
	out := map[string]any{"part": part, "kind": string(a.Kind), "path": a.Path, "host": a.Host, "recursive": a.Recursive, "glob": a.Glob, "redirect": a.Redirect, "fresh": a.Fresh,
		"spelled": a.Path}
	if a.Spelled != "" {
		out["spelled"] = a.Spelled
	}
	if a.Pattern != "" {
		out["pattern"] = a.Pattern
	}
	return out
}

// spots returns opaque spots with the index of their part, -1 for the whole call.
func spots(list []cardea.Opaque, part int) []any {
	return append([]any{}, lists.Of(list, func(o cardea.Opaque) any {
		return map[string]any{"code": string(o.Code), "text": o.Text, "reason": o.Reason, "part": part}
	})...)
}
