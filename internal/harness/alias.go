package harness

import (
	"maps"
	"slices"
	"strings"

	"cardea.dev"
)

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

// RunsInField is the field that names the folder of a command.
const RunsInField = "workdir"

// RunsIn is the folder in which a harness runs a call, as the input names it. Where it is
// not certain there may be several, or none; given is false where the input names none.
func RunsIn(harness string, c *cardea.Call) (dirs []string, certain, given bool) {
	v, there := c.Input[RunsInField]
	again := c.Shadowed[RunsInField]
	if !there || v == nil || !slices.ContainsFunc(renames[:], func(r rename) bool {
		return r.harness == harness && r.tool == c.Tool && r.field == RunsInField
	}) {
		if len(again) == 0 {
			return nil, true, false
		}
		v = nil
	}
	text, certain := v.(string)
	if certain && len(again) == 0 {
		return []string{text}, true, text != ""
	}
	return texts(append([]any{v}, again...)), false, true
}

// texts are the texts in a value.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, texts(v[key])...)
		}
	}
	return out
}

// runsIn reports whether a harness has the folder of a command under a name.
func runsIn(harness, tool, wire string) bool {
	return slices.ContainsFunc(renames[:], func(r rename) bool {
		return r.harness == harness && r.tool == tool && r.field == RunsInField && r.wire == wire
	})
}

// lenient reports a harness whose tools may have fields that are not known: what they
// can say is known, and was seen over many versions.
func lenient(harness string) bool { return harness == "claude-code" || harness == "copilot-cli" }

// isPlain reports a field of a harness's tool that says nothing which the gate looks at,
// or that was read as a list already. An object in the place of another value may say
// anything.
func isPlain(harness, tool, field string, value any) bool {
	name := field
	if holdsObject(value) {
		name += "{}"
	}
	for _, p := range plain {
		if p.harness == harness && p.tool == tool && slices.Contains(strings.Fields(p.fields), name) {
			return true
		}
	}
	return slices.ContainsFunc(renames[:], func(r rename) bool {
		head, _, list := strings.Cut(r.wire, "[]")
		return list && r.harness == harness && r.tool == tool && head == field
	})
}

// holdsObject reports an object, and a list with one.
func holdsObject(v any) bool {
	list, _ := v.([]any)
	_, is := v.(map[string]any)
	return is || slices.ContainsFunc(list, holdsObject)
}

// aliases are the names that differ from the canonical one. A wire name means
// the same tool at every harness that has it, so that rules may use any of
// them. They are those that the vendors document or that were seen on the real
// programs (docs/harnesses.md). Calls by those of harnesses without an adapter are
// judged, but never allowed (see [Foreign]).
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
	{"copilot-cli", "skill", "Skill"},

	{"codex", "shell", "Bash"},
	{"codex", "shell_command", "Bash"},
	{"codex", "exec_command", "Bash"},
	{"codex", "local_shell", "Bash"},
	{"codex", "update_plan", "TodoWrite"},
	{"codex", "spawn_agent", "Agent"},
	{"codex", "view_image", "Read"},
	{"codex", "web_search", "WebSearch"},
	{"codex", "request_user_input", "AskUserQuestion"},

	{"gemini-cli", "run_shell_command", "Bash"},
	{"gemini-cli", "write_file", "Write"},
	{"gemini-cli", "read_file", "Read"},
	{"gemini-cli", "replace", "Edit"},
	{"gemini-cli", "glob", "Glob"},
	{"gemini-cli", "grep_search", "Grep"},
	{"gemini-cli", "search_file_content", "Grep"},
	{"gemini-cli", "list_directory", "Glob"},
	{"gemini-cli", "read_many_files", "Grep"},
	{"gemini-cli", "web_fetch", "WebFetch"},
	{"gemini-cli", "google_web_search", "WebSearch"},
	{"gemini-cli", "write_todos", "TodoWrite"},
	{"gemini-cli", "ask_user", "AskUserQuestion"},
	{"gemini-cli", "exit_plan_mode", "ExitPlanMode"},
	{"gemini-cli", "activate_skill", "Skill"},

	{"qwen-code", "run_shell_command", "Bash"},
	{"qwen-code", "write_file", "Write"},
	{"qwen-code", "read_file", "Read"},
	{"qwen-code", "edit", "Edit"},
	{"qwen-code", "glob", "Glob"},
	{"qwen-code", "grep_search", "Grep"},
	{"qwen-code", "list_directory", "Glob"},
	{"qwen-code", "read_many_files", "Grep"},
	{"qwen-code", "web_fetch", "WebFetch"},
	{"qwen-code", "web_search", "WebSearch"},
	{"qwen-code", "todo_write", "TodoWrite"},
	{"qwen-code", "agent", "Agent"},
	{"qwen-code", "task", "Agent"},
	{"qwen-code", "skill", "Skill"},
	{"qwen-code", "exit_plan_mode", "ExitPlanMode"},
	{"qwen-code", "ask_user_question", "AskUserQuestion"},

	{"opencode", "bash", "Bash"},
	{"opencode", "shell", "Bash"},
	{"opencode", "read", "Read"},
	{"opencode", "write", "Write"},
	{"opencode", "edit", "Edit"},
	{"opencode", "multiedit", "MultiEdit"},
	{"opencode", "patch", "apply_patch"},
	{"opencode", "glob", "Glob"},
	{"opencode", "grep", "Grep"},
	{"opencode", "list", "Glob"},
	{"opencode", "webfetch", "WebFetch"},
	{"opencode", "websearch", "WebSearch"},
	{"opencode", "task", "Agent"},
	{"opencode", "subagent", "Agent"},
	{"opencode", "todowrite", "TodoWrite"},
	{"opencode", "skill", "Skill"},
	{"opencode", "question", "AskUserQuestion"},

	{"factory-droid", "Execute", "Bash"},
	{"factory-droid", "Create", "Write"},
	{"factory-droid", "LS", "Glob"},
	{"factory-droid", "FetchUrl", "WebFetch"},
	{"factory-droid", "ApplyPatch", "apply_patch"},
	{"factory-droid", "Task", "Agent"},
	{"factory-droid", "ExitSpecMode", "ExitPlanMode"},
	{"factory-droid", "AskUser", "AskUserQuestion"},

	{"cline", "run_commands", "Bash"},
	{"cline", "execute_command", "Bash"},
	{"cline", "editor", "Edit"},
	{"cline", "read_files", "Read"},
	{"cline", "read_file", "Read"},
	{"cline", "write_to_file", "Write"},
	{"cline", "replace_in_file", "Edit"},
	{"cline", "list_files", "Glob"},
	{"cline", "search_files", "Grep"},
	{"cline", "fetch_web_content", "WebFetch"},
	{"cline", "web_fetch", "WebFetch"},
	{"cline", "web_search", "WebSearch"},
	{"cline", "skills", "Skill"},
	{"cline", "use_skill", "Skill"},
	{"cline", "ask_question", "AskUserQuestion"},
	{"cline", "ask_followup_question", "AskUserQuestion"},

	{"pi", "bash", "Bash"},
	{"pi", "read", "Read"},
	{"pi", "write", "Write"},
	{"pi", "edit", "Edit"},
	{"pi", "grep", "Grep"},
	{"pi", "find", "Glob"},
	{"pi", "ls", "Glob"},

	{"cursor", "Shell", "Bash"},
	{"cursor", "Task", "Agent"},

	{"vscode", "runTerminalCommand", "Bash"},
	{"vscode", "run_in_terminal", "Bash"},
	{"vscode", "create_file", "Write"},
	{"vscode", "replace_string_in_file", "Edit"},
	{"vscode", "multi_replace_string_in_file", "Edit"},
	{"vscode", "insert_edit_into_file", "Edit"},
	{"vscode", "editFiles", "Edit"},
	{"vscode", "read_file", "Read"},
	{"vscode", "list_dir", "Glob"},
	{"vscode", "file_search", "Glob"},
	{"vscode", "grep_search", "Grep"},
	{"vscode", "fetch_webpage", "WebFetch"},
	{"vscode", "manage_todo_list", "TodoWrite"},
	{"vscode", "runSubagent", "Agent"},

	{"windsurf-cascade", "pre_run_command", "Bash"},
	{"windsurf-cascade", "pre_read_code", "Read"},
	{"windsurf-cascade", "pre_write_code", "MultiEdit"},

	{"kiro", "execute_bash", "Bash"},
	{"kiro", "shell", "Bash"},
	{"kiro", "fs_read", "Read"},
	{"kiro", "fs_write", "Edit"},

	{"amp", "shell_command", "Bash"},
	{"amp", "edit_file", "Edit"},
	{"amp", "create_file", "Write"},
	{"amp", "glob", "Glob"},
	{"amp", "web_search", "WebSearch"},
	{"amp", "read_web_page", "WebFetch"},
	{"amp", "todo_write", "TodoWrite"},

	{"augment", "launch-process", "Bash"},
	{"augment", "str-replace-editor", "Edit"},
	{"augment", "save-file", "Write"},
	{"augment", "view", "Read"},
	{"augment", "web-fetch", "WebFetch"},
	{"augment", "web-search", "WebSearch"},

	{"crush", "bash", "Bash"},
	{"crush", "edit", "Edit"},
	{"crush", "multiedit", "MultiEdit"},
	{"crush", "write", "Write"},
	{"crush", "view", "Read"},
	{"crush", "ls", "Glob"},
	{"crush", "glob", "Glob"},
	{"crush", "grep", "Grep"},
	{"crush", "fetch", "WebFetch"},
	{"crush", "agent", "Agent"},
	{"crush", "todos", "TodoWrite"},

	{"grok-build", "run_terminal_command", "Bash"},

	{"devin-cli", "exec", "Bash"},
	{"hermes-agent", "terminal", "Bash"},
}

type rename struct {
	harness, tool, wire, field string
	oneWay                     bool
}

// renames are the fields whose wire name differs from the canonical one. A
// oneWay entry is a second spelling that is read but not written. One with [] is of a
// list, each entry of which is such a value, or holds it under the key behind the dot:
// "files[].path".
var renames = [...]rename{
	{harness: "copilot-cli", tool: "Read", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "Write", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "Write", wire: "file_text", field: "content"},
	{harness: "copilot-cli", tool: "Edit", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "Edit", wire: "old_str", field: "old_string"},
	{harness: "copilot-cli", tool: "Edit", wire: "new_str", field: "new_string"},
	{harness: "copilot-cli", tool: "Edit", wire: "file_text", field: "content"},
	{harness: "copilot-cli", tool: "Glob", wire: "paths[]", field: "path", oneWay: true},
	{harness: "copilot-cli", tool: "Grep", wire: "paths[]", field: "path", oneWay: true},
	{harness: "copilot-cli", tool: "MultiEdit", wire: "path", field: "file_path"},
	{harness: "copilot-cli", tool: "NotebookEdit", wire: "path", field: "notebook_path"},
	{harness: "copilot-cli", tool: "apply_patch", wire: "patch", field: "input", oneWay: true},
	{harness: "copilot-cli", tool: "Agent", wire: "agent_type", field: "subagent_type"},

	{harness: "codex", tool: "Bash", wire: "cmd", field: "command", oneWay: true},
	{harness: "codex", tool: "Bash", wire: "workdir", field: "workdir"},
	{harness: "codex", tool: "apply_patch", wire: "command", field: "input"},
	{harness: "codex", tool: "TodoWrite", wire: "plan", field: "todos"},
	{harness: "codex", tool: "Read", wire: "path", field: "file_path"},

	{harness: "gemini-cli", tool: "Bash", wire: "dir_path", field: "workdir"},
	{harness: "gemini-cli", tool: "Bash", wire: "directory", field: "workdir", oneWay: true},
	{harness: "gemini-cli", tool: "Bash", wire: "is_background", field: "run_in_background"},
	{harness: "gemini-cli", tool: "Read", wire: "absolute_path", field: "file_path", oneWay: true},
	{harness: "gemini-cli", tool: "Read", wire: "path", field: "file_path", oneWay: true},
	{harness: "gemini-cli", tool: "Write", wire: "path", field: "file_path", oneWay: true},
	{harness: "gemini-cli", tool: "Edit", wire: "path", field: "file_path", oneWay: true},
	{harness: "gemini-cli", tool: "Edit", wire: "allow_multiple", field: "replace_all"},
	{harness: "gemini-cli", tool: "Glob", wire: "dir_path", field: "path"},
	{harness: "gemini-cli", tool: "Grep", wire: "dir_path", field: "path"},
	{harness: "gemini-cli", tool: "Grep", wire: "include_pattern", field: "glob", oneWay: true},
	{harness: "gemini-cli", tool: "Grep", wire: "include[]", field: "glob", oneWay: true},
	{harness: "gemini-cli", tool: "Grep", wire: "paths[]", field: "glob", oneWay: true},
	{harness: "gemini-cli", tool: "Skill", wire: "name", field: "skill"},

	{harness: "qwen-code", tool: "Bash", wire: "directory", field: "workdir"},
	{harness: "qwen-code", tool: "Bash", wire: "is_background", field: "run_in_background"},
	{harness: "qwen-code", tool: "Read", wire: "absolute_path", field: "file_path", oneWay: true},
	{harness: "qwen-code", tool: "Read", wire: "path", field: "file_path", oneWay: true},
	{harness: "qwen-code", tool: "Grep", wire: "include", field: "glob", oneWay: true},
	{harness: "qwen-code", tool: "Grep", wire: "paths[]", field: "glob", oneWay: true},

	{harness: "opencode", tool: "Bash", wire: "workdir", field: "workdir"},
	{harness: "opencode", tool: "Bash", wire: "resources[]", field: "command", oneWay: true},
	{harness: "opencode", tool: "Read", wire: "filePath", field: "file_path"},
	{harness: "opencode", tool: "Read", wire: "path", field: "file_path", oneWay: true},
	{harness: "opencode", tool: "Read", wire: "resources[]", field: "file_path", oneWay: true},
	{harness: "opencode", tool: "Write", wire: "filePath", field: "file_path"},
	{harness: "opencode", tool: "Write", wire: "path", field: "file_path", oneWay: true},
	{harness: "opencode", tool: "Edit", wire: "filePath", field: "file_path"},
	{harness: "opencode", tool: "Edit", wire: "path", field: "file_path", oneWay: true},
	{harness: "opencode", tool: "Edit", wire: "oldString", field: "old_string"},
	{harness: "opencode", tool: "Edit", wire: "newString", field: "new_string"},
	{harness: "opencode", tool: "Edit", wire: "replaceAll", field: "replace_all"},
	{harness: "opencode", tool: "Edit", wire: "resources[]", field: "file_path", oneWay: true},
	{harness: "opencode", tool: "MultiEdit", wire: "filePath", field: "file_path"},
	{harness: "opencode", tool: "apply_patch", wire: "patchText", field: "input"},
	{harness: "opencode", tool: "Grep", wire: "include", field: "glob"},
	{harness: "opencode", tool: "Skill", wire: "name", field: "skill"},

	{harness: "factory-droid", tool: "Edit", wire: "old_str", field: "old_string"},
	{harness: "factory-droid", tool: "Edit", wire: "new_str", field: "new_string"},
	{harness: "factory-droid", tool: "Edit", wire: "change_all", field: "replace_all"},
	{harness: "factory-droid", tool: "MultiEdit", wire: "changes", field: "edits"},
	{harness: "factory-droid", tool: "Glob", wire: "directory_path", field: "path", oneWay: true},
	{harness: "factory-droid", tool: "Glob", wire: "folder", field: "path"},
	{harness: "factory-droid", tool: "Glob", wire: "patterns[]", field: "pattern", oneWay: true},
	{harness: "factory-droid", tool: "Grep", wire: "glob_pattern", field: "glob"},
	{harness: "factory-droid", tool: "Skill", wire: "name", field: "skill", oneWay: true},

	{harness: "cline", tool: "Bash", wire: "commands[]", field: "command", oneWay: true},
	{harness: "cline", tool: "Bash", wire: "cmd", field: "command", oneWay: true},
	{harness: "cline", tool: "Edit", wire: "path", field: "file_path"},
	{harness: "cline", tool: "Edit", wire: "old_text", field: "old_string"},
	{harness: "cline", tool: "Edit", wire: "new_text", field: "new_string"},
	{harness: "cline", tool: "Edit", wire: "diff", field: "new_string", oneWay: true},
	{harness: "cline", tool: "Read", wire: "path", field: "file_path"},
	{harness: "cline", tool: "Read", wire: "filePath", field: "file_path", oneWay: true},
	{harness: "cline", tool: "Read", wire: "files[].path", field: "file_path", oneWay: true},
	{harness: "cline", tool: "Write", wire: "path", field: "file_path"},
	{harness: "cline", tool: "Grep", wire: "regex", field: "pattern"},
	{harness: "cline", tool: "Grep", wire: "file_pattern", field: "glob"},
	{harness: "cline", tool: "WebFetch", wire: "requests[].url", field: "url", oneWay: true},

	{harness: "pi", tool: "Read", wire: "path", field: "file_path"},
	{harness: "pi", tool: "Write", wire: "path", field: "file_path"},
	{harness: "pi", tool: "Edit", wire: "path", field: "file_path"},
	{harness: "pi", tool: "Edit", wire: "oldText", field: "old_string"},
	{harness: "pi", tool: "Edit", wire: "newText", field: "new_string"},
	{harness: "pi", tool: "Edit", wire: "edits[].oldText", field: "old_string", oneWay: true},
	{harness: "pi", tool: "Edit", wire: "edits[].newText", field: "new_string", oneWay: true},

	{harness: "cursor", tool: "Bash", wire: "working_directory", field: "workdir"},
	{harness: "cursor", tool: "Bash", wire: "cwd", field: "workdir", oneWay: true},
	{harness: "cursor", tool: "Read", wire: "path", field: "file_path", oneWay: true},
	{harness: "cursor", tool: "Write", wire: "path", field: "file_path", oneWay: true},
	{harness: "cursor", tool: "Write", wire: "contents", field: "content", oneWay: true},
	{harness: "cursor", tool: "Edit", wire: "path", field: "file_path", oneWay: true},
	{harness: "cursor", tool: "Grep", wire: "glob_filter", field: "glob", oneWay: true},

	{harness: "vscode", tool: "Write", wire: "filePath", field: "file_path"},
	{harness: "vscode", tool: "Read", wire: "filePath", field: "file_path"},
	{harness: "vscode", tool: "Edit", wire: "filePath", field: "file_path"},
	{harness: "vscode", tool: "Edit", wire: "oldString", field: "old_string"},
	{harness: "vscode", tool: "Edit", wire: "newString", field: "new_string"},
	{harness: "vscode", tool: "Edit", wire: "code", field: "new_string", oneWay: true},
	{harness: "vscode", tool: "Edit", wire: "files[]", field: "file_path", oneWay: true},
	{harness: "vscode", tool: "Edit", wire: "replacements[].filePath", field: "file_path", oneWay: true},
	{harness: "vscode", tool: "Edit", wire: "replacements[].newString", field: "new_string", oneWay: true},
	{harness: "vscode", tool: "Glob", wire: "query", field: "pattern"},
	{harness: "vscode", tool: "Grep", wire: "query", field: "pattern"},
	{harness: "vscode", tool: "Grep", wire: "includePattern", field: "glob"},
	{harness: "vscode", tool: "WebFetch", wire: "urls[]", field: "url", oneWay: true},
	{harness: "vscode", tool: "TodoWrite", wire: "todoList", field: "todos"},

	{harness: "windsurf-cascade", tool: "Bash", wire: "command_line", field: "command"},
	{harness: "windsurf-cascade", tool: "Bash", wire: "cwd", field: "workdir"},

	{harness: "kiro", tool: "Bash", wire: "working_dir", field: "workdir"},
	{harness: "kiro", tool: "Read", wire: "path", field: "file_path"},
	{harness: "kiro", tool: "Read", wire: "operations[].path", field: "file_path", oneWay: true},
	{harness: "kiro", tool: "Edit", wire: "path", field: "file_path"},
	{harness: "kiro", tool: "Edit", wire: "file_text", field: "new_string", oneWay: true},
	{harness: "kiro", tool: "Edit", wire: "old_str", field: "old_string"},
	{harness: "kiro", tool: "Edit", wire: "new_str", field: "new_string"},

	{harness: "amp", tool: "Bash", wire: "cmd", field: "command"},
	{harness: "amp", tool: "Bash", wire: "workdir", field: "workdir"},
	{harness: "amp", tool: "Bash", wire: "cwd", field: "workdir", oneWay: true},
	{harness: "amp", tool: "Read", wire: "path", field: "file_path"},
	{harness: "amp", tool: "Write", wire: "path", field: "file_path"},
	{harness: "amp", tool: "Edit", wire: "path", field: "file_path"},
	{harness: "amp", tool: "Edit", wire: "old_str", field: "old_string"},
	{harness: "amp", tool: "Edit", wire: "new_str", field: "new_string"},
	{harness: "amp", tool: "Glob", wire: "filePattern", field: "pattern"},

	{harness: "augment", tool: "Bash", wire: "cwd", field: "workdir"},
	{harness: "augment", tool: "Read", wire: "path", field: "file_path"},
	{harness: "augment", tool: "Write", wire: "path", field: "file_path"},
	{harness: "augment", tool: "Write", wire: "file_content", field: "content"},
	{harness: "augment", tool: "Edit", wire: "path", field: "file_path"},

	{harness: "crush", tool: "Bash", wire: "working_dir", field: "workdir"},
	{harness: "crush", tool: "Grep", wire: "include", field: "glob"},

	{harness: "hermes-agent", tool: "Bash", wire: "workdir", field: "workdir"},
}

// plain are further fields of tools which say nothing that the gate looks at; {} marks
// one with an object.
var plain = [...]struct{ harness, tool, fields string }{
	{"codex", "Bash", "yield_time_ms max_output_tokens tty login justification timeout_ms"},
	{"copilot-cli", "Bash", "mode shellId detach initial_wait"}, // of a declared tool of 1.0.102; no state of a shell is kept
	{"copilot-cli", "PowerShell", "mode shellId detach initial_wait"},
	{"codex", "TodoWrite", "explanation"},
	{"codex", "Agent", "message agent_type fork_context items"},
	{"gemini-cli", "Read", "start_line end_line"},
	{"gemini-cli", "Edit", "instruction expected_replacements"},
	{"gemini-cli", "Glob", "case_sensitive respect_git_ignore respect_gemini_ignore ignore file_filtering_options{}"},
	{"gemini-cli", "Grep", "exclude_pattern case_sensitive fixed_strings max_matches_per_file total_max_matches names_only no_ignore before after exclude recursive useDefaultExcludes file_filtering_options{}"},
	{"gemini-cli", "ExitPlanMode", "plan_path plan_filename"},
	{"qwen-code", "Glob", "ignore respect_git_ignore file_filtering_options{}"},
	{"qwen-code", "Grep", "limit exclude recursive useDefaultExcludes file_filtering_options{}"},
	{"opencode", "Glob", "ignore limit"},
	{"opencode", "WebFetch", "format timeout"},
	{"opencode", "WebSearch", "numResults livecrawl type contextMaxCharacters"},
	{"opencode", "Agent", "session_id task_id command background"},
	{"factory-droid", "Bash", "riskLevel riskLevelReason summary fireAndForget"},
	{"factory-droid", "Glob", "ignorePatterns excludePatterns"},
	{"factory-droid", "Grep", "case_insensitive line_numbers context_before context_after"},
	{"factory-droid", "Edit", "explanation"},
	{"factory-droid", "Write", "explanation"},
	{"factory-droid", "WebSearch", "category numResults type includeDomains excludeDomains"},
	{"cline", "Bash", "requires_approval timeout"},
	{"cline", "Edit", "insert_line"},
	{"cline", "Read", "start_line end_line task_progress"},
	{"cline", "Glob", "recursive task_progress"},
	{"cline", "Write", "task_progress"},
	{"cline", "AskUserQuestion", "question options task_progress"},
	{"pi", "Grep", "ignoreCase literal limit"},
	{"pi", "Glob", "limit"},
	{"cursor", "Grep", "case_insensitive"},
	{"vscode", "Bash", "explanation goal isBackground mode"},
	{"vscode", "Read", "startLine endLine"},
	{"vscode", "Edit", "explanation"},
	{"vscode", "Grep", "isRegexp maxResults includeIgnoredFiles"},
	{"vscode", "Glob", "maxResults"},
	{"vscode", "WebFetch", "query"},
	{"kiro", "Bash", "summary"},
	{"kiro", "Edit", "command insert_line summary"},
	{"kiro", "Read", "mode summary"},
	{"amp", "Read", "read_range"},
	{"amp", "Edit", "replace_all"},
	{"amp", "Grep", "caseSensitive literal"},
	{"amp", "Glob", "limit"},
	{"amp", "WebFetch", "objective forceRefetch"},
	{"amp", "WebSearch", "objective search_queries max_results"},
	{"augment", "Bash", "wait max_wait_seconds"},
	{"augment", "Edit", "command instruction_reminder old_str_1 new_str_1 old_str_start_line_number_1 old_str_end_line_number_1 insert_line_1"},
	{"augment", "Write", "instructions_reminder add_last_line_newline"},
	{"augment", "Read", "type view_range"},
	{"crush", "Glob", "ignore depth"},
	{"crush", "Grep", "literal_text"},
	{"crush", "WebFetch", "format timeout"},
}
