package dialect

import (
	"cardea.dev"
	"cardea.dev/internal/harness"
)

// cursor is the dialect of Cursor, the editor and its command line (https://cursor.com/docs/hooks;
// not seen). A question is possible before a shell command and a call of MCP, but not on
// preToolUse, which comes first and denies in place of asking: a question before a shell command is
// reported to be skipped if the command is listed or sandboxed. An allow on preToolUse and before a
// file is read means "go on". With failClosed an empty answer is a failure, so there is always an
// answer.
var cursor = Dialect{
	name:  "cursor",
	event: []string{"hook_event_name"}, session: []string{"conversation_id", "session_id"}, cwd: []string{"workspace_roots.0", "cwd"}, // cwd may be the command's
	kinds: []kind{{"preToolUse", cardea.PreToolUse}, {"beforeShellExecution", cardea.PreToolUse}, {"beforeMCPExecution", cardea.PreToolUse},
		{"beforeReadFile", cardea.PreToolUse}, {"beforeTabFileRead", cardea.PreToolUse}, {"beforeSubmitPrompt", "UserPromptSubmit"},
		{"postToolUse", "PostToolUse"}, {"postToolUseFailure", "PostToolUseFailure"}, {"afterShellExecution", "AfterShellExecution"},
		{"sessionStart", "SessionStart"}, {"sessionEnd", "SessionEnd"}, {"stop", "Stop"}, {"subagentStart", "SubagentStart"},
		{"subagentStop", "SubagentStop"}, {"preCompact", "PreCompact"}},
	shapes: []shape{
		{event: "beforeShellExecution", named: "Shell", fields: []string{"command", "cwd"}},
		{event: "afterShellExecution", named: "Shell", fields: []string{"command"}},
		{event: "beforeReadFile", named: "Read", fields: []string{"file_path"}},
		{event: "beforeTabFileRead", named: "Read", fields: []string{"file_path"}},
		{has: "tool_output", tool: "tool_name", input: "tool_input", kind: "PostToolUse"},
		{tool: "tool_name", input: "tool_input", kind: cardea.PreToolUse},
	},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Wires: []string{"beforeShellExecution", "beforeMCPExecution"},
			Allow: cardea.Allow, Ask: cardea.Ask, AskUnattended: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Context: cardea.ContextOnDeny, Reserved: question},
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Wires: []string{"preToolUse"}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny,
			Rewrite: true, RewritesInFlow: true, Context: cardea.ContextOnDeny},
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Context: cardea.ContextOnDeny},
		{Kinds: []cardea.Kind{"UserPromptSubmit"}, Deny: cardea.Deny},
		{},
	},
	write: writeCursor, server: cursorServer,
}

type cursorAnswer struct {
	Permission string         `json:"permission,omitempty"`
	Continue   *bool          `json:"continue,omitempty"`
	Person     string         `json:"user_message,omitempty"`
	Model      string         `json:"agent_message,omitempty"`
	Input      map[string]any `json:"updated_input,omitempty"`
}

// writeCursor returns an answer in Cursor's form.
func writeCursor(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output {
	out := cursorAnswer{Input: harness.Rewritten(d.name, ev, a)}
	prompts := ev.Wire == "beforeShellExecution" || ev.Wire == "beforeMCPExecution"
	switch {
	case ev.Kind == "UserPromptSubmit" && a.Effect == cardea.Deny:
		no := false
		out.Continue, out.Person = &no, harness.ForModel(a, harness.Next(a))
	case ev.Kind != cardea.PreToolUse:
		return said(nil, harness.Notice(a))
	case a.Effect == cardea.Deny:
		why := a
		why.Instead = "" // the model's message has it
		out.Permission, out.Person, out.Model = "deny", harness.ForModel(why, harness.Next(a)), harness.ForModel(a, a.Context...)
	case a.Effect == cardea.Ask:
		out.Permission, out.Person = "ask", harness.ForBoth(a)
	case a.Effect == cardea.Allow, !prompts:
		out.Permission = "allow"
	}
	return said(out, harness.Notice(a))
}

// cursorServer reads mcp_server_name, which only beforeMCPExecution has.
func cursorServer(r *harness.Reading, name string) (server, tool string) {
	return r.Text("mcp_server_name"), name
}
