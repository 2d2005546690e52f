package cli

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/harness"
	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/internal/testing/testrun"
	"cardea.dev/packs/cases"
)

// message is a form in which a harness sends events.
type message struct {
	harness string
	// events are its names of PreToolUse, PostToolUse and UserPromptSubmit.
	events [3]string
	// golden returns the file of a real message, by event and tool, in payloads.
	golden func(event, tool string) string
	// put writes a call into a message.
	put func(m map[string]any, event, tool string, fields map[string]any)
}

// copilotWord returns Copilot CLI's name for a tool.
func copilotWord(tool string) string {
	if word, ok := map[string]string{"Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "PowerShell": "powershell"}[tool]; ok {
		return word
	}
	return tool
}

// likeBash returns Bash for the tools without a real message.
func likeBash(tool string) string {
	if strings.HasPrefix(tool, "mcp__") {
		return "Bash"
	}
	return tool
}

func messages() []message {
	events := [3]string{"PreToolUse", "PostToolUse", "UserPromptSubmit"}
	camel := func(args func(map[string]any) any) func(map[string]any, string, string, map[string]any) {
		return func(m map[string]any, event, tool string, fields map[string]any) {
			m["toolName"], m["toolArgs"] = copilotWord(tool), args(harness.WireInput("copilot-cli", tool, fields))
			if event == "postToolUse" {
				m["toolResult"] = map[string]any{"resultType": "success", "textResultForLlm": "ok"}
			}
		}
	}
	camelNames := [3]string{"preToolUse", "postToolUse", "userPromptSubmitted"}
	camelFile := func(event, tool string) string {
		if event == "userPromptSubmitted" {
			return "copilot-cli/camel-userPromptSubmitted.json"
		}
		if event == "postToolUse" {
			tool = "Bash"
		}
		return "copilot-cli/camel-" + event + "-" + copilotWord(likeBash(tool)) + ".json"
	}
	named := func(m map[string]any, event string) { m["hook_event_name"] = event }
	return []message{
		{"claude-code", events, func(event, tool string) string {
			if event == "UserPromptSubmit" {
				return "claude-code/UserPromptSubmit.json"
			}
			if event == "PostToolUse" && tool == "Edit" {
				tool = "Write"
			}
			return "claude-code/" + event + "-" + likeBash(tool) + ".json"
		}, func(m map[string]any, event, tool string, fields map[string]any) {
			named(m, event)
			m["tool_name"], m["tool_input"] = tool, fields
			if event == "PostToolUse" {
				m["tool_response"] = map[string]any{"stdout": "", "interrupted": false}
			}
		}},
		{"copilot-cli", camelNames, camelFile, camel(func(in map[string]any) any { return in })},
		{"copilot-cli", camelNames, camelFile, camel(func(in map[string]any) any { return marshalled(in) })},
		{"copilot-cli", events, func(event, tool string) string {
			if event == "UserPromptSubmit" {
				return "copilot-cli/pascal-UserPromptSubmit.json"
			}
			if likeBash(tool) != "Bash" && event == "PreToolUse" {
				tool = "Edit"
			} else {
				tool = "Bash"
			}
			return "copilot-cli/pascal-" + event + "-" + tool + ".json"
		}, func(m map[string]any, event, tool string, fields map[string]any) {
			named(m, event)
			m["tool_name"], m["tool_input"] = tool, harness.WireInput("copilot-cli", tool, fields)
			if event == "PostToolUse" {
				m["tool_result"] = map[string]any{"result_type": "success", "text_result_for_llm": "ok"}
			}
		}},
	}
}

// of returns a real message with this call instead of its own. Without the shared data it
// has the fields of every message.
func (w *message) of(t *testing.T, d *fixture, event int, c cases.ToolCall, prompt string) string {
	t.Helper()
	name := w.events[event]
	m := map[string]any{}
	switch {
	case w.harness == "claude-code":
		m["session_id"], m["hook_event_name"], m["transcript_path"], m["permission_mode"] = "s", name, "/t.jsonl", "default"
	case w.events[0] == "preToolUse":
		m["sessionId"], m["timestamp"] = "s", 1790019412087
	default:
		m["session_id"], m["hook_event_name"], m["timestamp"] = "s", name, "2026-09-21T14:03:32.087Z"
	}
	if sharedtest.Available(t) {
		m = map[string]any{}
		sharedtest.ReadJSON(t, &m, "payloads", w.golden(name, c.ToolName()))
	}
	m["cwd"] = d.project
	if event == 2 {
		m["prompt"] = prompt
	} else {
		w.put(m, name, c.ToolName(), c.Fields(d.project))
	}
	return marshalled(m)
}

// answered returns what a harness reads from an answer: an effect, and every text for the
// model or the person.
func answered(out string) (effect, text string) {
	var a map[string]any
	if strings.TrimSpace(out) == "" || json.Unmarshal([]byte(out), &a) != nil {
		return "nothing", out
	}
	flat := maps.Clone(a)
	if inner, ok := a["hookSpecificOutput"].(map[string]any); ok {
		maps.Copy(flat, inner)
	}
	for _, key := range []string{"permissionDecisionReason", "reason", "additionalContext", "systemMessage"} {
		s, _ := flat[key].(string)
		text += s + "\n"
	}
	_, context := flat["additionalContext"]
	switch decision, _ := flat["permissionDecision"].(string); {
	case decision == "deny" || decision == "ask":
		return decision, text
	case flat["decision"] == "block" || context:
		return "told", text
	}
	return "nothing", text
}

// Every built-in policy decides as its page says, for every supported harness and form of
// message, and is silent where the page says so.
func TestBuiltinPolicies(t *testing.T) {
	all, err := cases.Read(filepath.Join("..", "..", "packs", "policies"))
	if err != nil || len(all) != 8 {
		t.Fatalf("%d policies, %v", len(all), err)
	}
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) {
			seen := map[string]int{}
			for i := range messages() {
				w := &messages()[i]
				for k, c := range p.Cases {
					if i > 0 && i != 1+k%3 && !testrun.Long() {
						continue // Copilot CLI's three forms take turns
					}
					builtinCase(t, &p, w, &c)
					seen[w.harness+" "+c.Expect]++
				}
			}
			for _, h := range []string{"claude-code", "copilot-cli"} {
				if seen[h+" nothing"] == 0 || len(seen) < 4 {
					t.Errorf("the cases show little: %v", seen)
				}
			}
		})
	}
}

// builtinCase runs a case on a fresh machine.
func builtinCase(t *testing.T, p *cases.Policy, w *message, c *cases.Case) {
	t.Helper()
	d := newFixture(t)
	d.vars["CLAUDE_PROJECT_DIR"] = d.project
	d.settings("version: 1\n" + p.Settings)
	for path, text := range p.Files {
		d.write(filepath.Join(d.project, path), strings.ReplaceAll(text, "{lines}", strings.Repeat("a line\n", 2500)))
	}
	send := func(event int, call cases.ToolCall) (effect, text string) {
		sent := w.of(t, d, event, call, c.Prompt)
		out, errs, code := d.run(sent, "check", "--harness", w.harness)
		if code != exitOK {
			t.Errorf("%s: exit %d, %s%s", sent, code, out, errs)
		}
		return answered(out)
	}
	for _, before := range c.After {
		send(0, before)
		send(1, before)
	}
	event := 0
	switch {
	case c.Prompt != "":
		event = 2
	case c.Done:
		event = 1
	}
	effect, text := send(event, c.ToolCall)
	says := slices.ContainsFunc(p.Says, func(s string) bool { return strings.Contains(text, s) })
	if effect != c.Expect || says != (c.Expect != "nothing") {
		t.Errorf("%s, %s: %+v is %s, not %s: %q", w.harness, w.events[event], c, effect, c.Expect, text)
	}
}

// marshalled returns a value as JSON.
func marshalled(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}
