package harness

// ToolName is the canonical name of a tool that a harness sends as wire. Names
// are compared exactly; one that the harness has no other word for is returned
// as it is.
func ToolName(harness, wire string) string {
	for _, a := range aliases {
		if a.harness == harness && a.wire == wire {
			return a.tool
		}
	}
	return wire
}

// ToolWord resolves the word that a rules file uses for a tool: a canonical
// name, or any harness's own ("bash", "run_shell_command", "Task"). It reports
// false for a word that is neither, which may still be an MCP tool or a tool
// that this version does not know.
func ToolWord(word string) (string, bool) {
	if _, ok := Tool(word); ok {
		return word, true
	}
	for _, a := range aliases {
		if a.wire == word {
			return a.tool, true
		}
	}
	return word, false
}

// fieldName is the canonical name of a field of a tool input.
func fieldName(harness, tool, wire string) string {
	for _, r := range renames {
		if r.harness == harness && r.tool == tool && r.wire == wire {
			return r.field
		}
	}
	return wire
}

// WireInput renames the fields of a canonical tool input to what the harness
// calls them, for a rewrite that is sent back. The argument is left as it is.
func WireInput(harness, tool string, input map[string]any) map[string]any {
	out := make(map[string]any, len(input))
	for k, v := range input {
		out[wireName(harness, tool, k)] = v
	}
	return out
}

func wireName(harness, tool, field string) string {
	for _, r := range renames {
		if r.harness == harness && r.tool == tool && r.field == field && !r.oneWay {
			return r.wire
		}
	}
	return field
}

// aliases are the names that differ from the canonical one. A wire name means
// the same tool at every harness that has it, so that rules may use any of
// them. Those of Copilot CLI and Claude Code are documented by the vendors
// (docs/harnesses.md). The others are the names whose meaning and main field are
// documented; calls by them are judged, but never allowed (see [Foreign]).
var aliases = [...]struct{ harness, wire, tool string }{
	{"claude-code", "Task", "Agent"},

	{"copilot-cli", "bash", "Bash"},
	{"copilot-cli", "powershell", "PowerShell"},
	{"copilot-cli", "view", "Read"},
	{"copilot-cli", "create", "Write"},
	{"copilot-cli", "edit", "Edit"},
	{"copilot-cli", "str_replace_editor", "Edit"},
	{"copilot-cli", "grep", "Grep"},
	{"copilot-cli", "rg", "Grep"},
	{"copilot-cli", "glob", "Glob"},
	{"copilot-cli", "web_fetch", "WebFetch"},
	{"copilot-cli", "web_search", "WebSearch"},
	{"copilot-cli", "ask_user", "AskUserQuestion"},
	{"copilot-cli", "update_todo", "TodoWrite"},
	{"copilot-cli", "task", "Agent"},

	{"cursor", "Shell", "Bash"},
	{"cursor", "Task", "Agent"},
	{"vscode", "runTerminalCommand", "Bash"},
	{"vscode", "run_in_terminal", "Bash"},
	{"vscode", "create_file", "Write"},
	{"vscode", "replace_string_in_file", "Edit"},
	{"vscode", "read_file", "Read"},
	{"factory-droid", "Execute", "Bash"},
	{"factory-droid", "Create", "Write"},
	{"factory-droid", "FetchUrl", "WebFetch"},
	{"factory-droid", "ApplyPatch", "apply_patch"},
	{"factory-droid", "Task", "Agent"},
	{"gemini-cli", "run_shell_command", "Bash"},
	{"gemini-cli", "write_file", "Write"},
	{"gemini-cli", "read_file", "Read"},
	{"gemini-cli", "replace", "Edit"},
	{"qwen-code", "run_shell_command", "Bash"},
	{"qwen-code", "write_file", "Write"},
	{"qwen-code", "read_file", "Read"},
	{"kiro", "execute_bash", "Bash"},
	{"kiro", "shell", "Bash"},
	{"crush", "bash", "Bash"},
	{"crush", "edit", "Edit"},
	{"grok-build", "run_terminal_command", "Bash"},
	{"hermes-agent", "terminal", "Bash"},
}

// renames are the fields whose wire name differs from the canonical one. A
// oneWay entry is a second spelling that is read but not written.
var renames = [...]struct {
	harness, tool, wire, field string
	oneWay                     bool
}{
	{harness: "copilot-cli", tool: "Read", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "Write", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "Write", wire: "file_text", field: "content"},
	{harness: "copilot-cli", tool: "Edit", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "Edit", wire: "old_str", field: "old_string"},
	{harness: "copilot-cli", tool: "Edit", wire: "new_str", field: "new_string"},
	{harness: "copilot-cli", tool: "Edit", wire: "file_text", field: "content"},
	{harness: "copilot-cli", tool: "MultiEdit", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "NotebookEdit", wire: "path", field: "notebook_path"},
	{harness: "copilot-cli", tool: "apply_patch", wire: "patch", field: "input", oneWay: true},
	{harness: "copilot-cli", tool: "Agent", wire: "agent_type", field: "subagent_type"},

	{harness: "codex", tool: "apply_patch", wire: "command", field: "input"},
	{harness: "vscode", tool: "Write", wire: "filePath", field: "file_path"},
	{harness: "vscode", tool: "Read", wire: "filePath", field: "file_path"},
	{harness: "vscode", tool: "Edit", wire: "filePath", field: "file_path"},
	{harness: "vscode", tool: "Edit", wire: "oldString", field: "old_string"},
	{harness: "vscode", tool: "Edit", wire: "newString", field: "new_string"},
	{harness: "factory-droid", tool: "Edit", wire: "old_str", field: "old_string"},
	{harness: "factory-droid", tool: "Edit", wire: "new_str", field: "new_string"},
	{harness: "factory-droid", tool: "Edit", wire: "change_all", field: "replace_all"},
}
