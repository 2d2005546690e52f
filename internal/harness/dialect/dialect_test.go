package dialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/conformance"
	"cardea.dev/internal/harness/dialect"
)

// harnessCase is what a harness's test needs besides its own messages.
type harnessCase struct {
	name, folder string
	outcome      func(*cardea.Event, harness.Output) conformance.Outcome
	pre, request []string
	ask          string
	inputs       []string
}

var pluginKinds = []cardea.Kind{cardea.PreToolUse, cardea.PermissionRequest}

func cases() []harnessCase {
	return []harnessCase{
		{name: "codex", folder: "codex", outcome: conformance.ReadCodex,
			pre:     []string{`{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/work/p","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_use_id":"c"}`},
			request: []string{`{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/work/p","hook_event_name":"PermissionRequest","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"npm test","description":"d"}}`},
			inputs:  []string{"tool_input"}},
		{name: "gemini-cli", folder: "gemini-cli", outcome: conformance.ReadGemini,
			pre:    []string{`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"BeforeTool","timestamp":"2026-01-01","tool_name":"run_shell_command","tool_input":{"command":"npm test","description":"d","is_background":false}}`},
			inputs: []string{"tool_input"}},
		{name: "qwen-code", folder: "qwen-code", outcome: conformance.ReadQwen,
			pre:     []string{`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"PreToolUse","timestamp":"2026-01-01","permission_mode":"default","tool_name":"run_shell_command","tool_input":{"command":"npm test","description":"d","is_background":false},"tool_use_id":"u"}`},
			request: []string{`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"PermissionRequest","timestamp":"2026-01-01","permission_mode":"default","tool_name":"run_shell_command","tool_input":{"command":"npm test"}}`},
			ask:     `{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"PreToolUse","timestamp":"2026-01-01","permission_mode":"default","tool_name":"ask_user_question","tool_input":{"questions":[]},"tool_use_id":"u"}`,
			inputs:  []string{"tool_input"}},
		{name: "factory-droid", folder: "factory-droid", outcome: conformance.ReadDroid,
			pre: []string{`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","permission_mode":"off","hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"npm test"}}`,
				`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","permission_mode":"auto-low","hook_event_name":"PreToolUse","tool_name":"Create","tool_input":{"file_path":"/work/p/a","content":"x"}}`},
			inputs: []string{"tool_input"}},
		{name: "cline", folder: "cline", outcome: conformance.ReadCline,
			pre:    []string{`{"clineVersion":"","taskId":"t","workspaceRoots":["/work/p"],"hookName":"tool_call","tool_call":{"id":"c","name":"run_commands","input":{"commands":["npm test"]}}}`},
			inputs: []string{"tool_call"}},
		{name: "opencode", folder: "opencode", outcome: conformance.ReadPlugin(pluginKinds, "deny"),
			pre:    []string{`{"event":"tool.execute.before","cwd":"/work/p","input":{"tool":"bash","sessionID":"ses_1","callID":"c"},"output":{"args":{"command":"npm test","description":"d"}}}`},
			inputs: []string{"output"}},
		{name: "pi", outcome: conformance.ReadPlugin(pluginKinds, "allow", "ask", "deny"),
			pre:    []string{`{"type":"tool_call","toolName":"bash","toolCallId":"c","input":{"command":"npm test"},"cwd":"/work/p","hasUI":true}`},
			inputs: []string{"input"}},
	}
}

// The suite of every adapter, with the harness's own messages and its reader.
func TestConformance(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range cases() {
		covered[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			conformance.Run(t, conformance.Suite{Adapter: dialect.Find(c.name), Outcome: c.outcome, PreToolUse: c.pre, PermissionRequest: c.request,
				AskPerson: c.ask, Inputs: c.inputs})
		})
	}
	for _, d := range dialect.All() {
		if !covered[d.Name()] {
			t.Errorf("%s has no messages here", d.Name())
		}
	}
}

var _ = []any{json.Valid, os.ReadFile, filepath.Base, slices.Contains[[]string], strings.Contains}
