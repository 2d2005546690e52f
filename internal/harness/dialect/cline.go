package dialect

import (
	"cardea.dev"
	"cardea.dev/internal/harness"
)

// cline is the dialect of Cline: its command line (seen: 3.0.65) and its extension (documented at
// https://github.com/cline/cline, .clinerules/hooks; not seen). The command line runs a call for
// which a hook wants a review, and one for which it exits with 2. A refusal ends the turn of the
// agent, which gets no reason. A hook cannot pre-approve a call.
var cline = Dialect{
	name: "cline", seen: true, deaf: true,
	event: []string{"hookName"}, session: []string{"taskId"}, cwd: []string{"workspaceRoots.0"},
	kinds: []kind{{"tool_call", cardea.PreToolUse}, {"tool_result", "PostToolUse"}, {"agent_start", "TaskStart"}, {"agent_end", "TaskComplete"},
		{"agent_resume", "TaskResume"}, {"agent_abort", "TaskCancel"}, {"prompt_submit", "UserPromptSubmit"}},
	shapes: []shape{
		{has: "tool_result", tool: "tool_result.name", input: "tool_result.input", kind: "PostToolUse"},
		{has: "tool_call", tool: "tool_call.name", input: "tool_call.input", kind: cardea.PreToolUse},
		{has: "postToolUse", tool: "postToolUse.toolName", input: "postToolUse.parameters", kind: "PostToolUse"},
		{has: "preToolUse", tool: "preToolUse.toolName", input: "preToolUse.parameters", kind: cardea.PreToolUse},
	},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Context: cardea.ContextOnDeny},
		{},
	},
	write: writeCline, server: clineServer,
}

type clineAnswer struct {
	Cancel  bool   `json:"cancel"`
	Message string `json:"errorMessage,omitempty"`
}

func writeCline(_ *Dialect, _ *cardea.Event, a cardea.Answer) harness.Output {
	if a.Effect.Stricter(cardea.Ask) {
		return said(clineAnswer{true, harness.ForBoth(a, a.Context...)}, harness.Notice(a))
	}
	return said(nil, harness.Notice(a))
}

// clineServer reads the call of the extension's tool for MCP.
func clineServer(r *harness.Reading, name string) (server, tool string) {
	if name != "use_mcp_tool" {
		return "", ""
	}
	return r.Text("preToolUse.parameters.server_name"), r.Text("preToolUse.parameters.tool_name")
}
