package dialect

import (
	"cardea.dev"
	"cardea.dev/internal/harness"
)

// windsurf is the dialect of Windsurf's Cascade (https://docs.windsurf.com/windsurf/cascade/hooks;
// not seen). It reads only the exit code: 2 refuses the call of a pre_ event.
var windsurf = Dialect{
	name:  "windsurf-cascade",
	event: []string{"agent_action_name"}, session: []string{"trajectory_id"}, // the folder in a message is the command's
	kinds: []kind{{"pre_run_command", cardea.PreToolUse}, {"pre_read_code", cardea.PreToolUse}, {"pre_write_code", cardea.PreToolUse},
		{"pre_mcp_tool_use", cardea.PreToolUse}, {"pre_user_prompt", "UserPromptSubmit"}, {"post_run_command", "PostToolUse"},
		{"post_read_code", "PostToolUse"}, {"post_write_code", "PostToolUse"}, {"post_mcp_tool_use", "PostToolUse"}, {"post_cascade_response", "Stop"}},
	shapes: []shape{
		{event: "pre_run_command", named: "pre_run_command", input: "tool_info"},
		{event: "post_run_command", named: "pre_run_command", input: "tool_info"},
		{event: "pre_read_code", named: "pre_read_code", input: "tool_info"},
		{event: "post_read_code", named: "pre_read_code", input: "tool_info"},
		{event: "pre_write_code", named: "pre_write_code", input: "tool_info"},
		{event: "post_write_code", named: "pre_write_code", input: "tool_info"},
		{has: "tool_info.mcp_tool_name", tool: "tool_info.mcp_tool_name", input: "tool_info.mcp_tool_arguments", kind: cardea.PreToolUse},
		{has: "tool_info.command_line", named: "pre_run_command", input: "tool_info", kind: cardea.PreToolUse},
		{has: "tool_info.edits", named: "pre_write_code", input: "tool_info", kind: cardea.PreToolUse},
	},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Context: cardea.ContextOnDeny},
		{Kinds: []cardea.Kind{"UserPromptSubmit"}, Deny: cardea.Deny},
		{},
	},
	write: writeByExit,
	server: func(r *harness.Reading, name string) (server, tool string) {
		return r.Text("tool_info.mcp_server_name"), name
	},
}
