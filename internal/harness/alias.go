package harness

import (
	"maps"
	"slices"
	"strings"

	"cardea.dev"
)

// ToolName returns the canonical name of a tool that a harness sends as wire. Names are compared
// exactly. A name without another canonical form is returned unchanged.
func ToolName(harness, wire string) string {
	for _, t := range worded {
		if t.harness == harness && t.named(wire) {
			return t.tool
		}
	}
	return wire
}

// ToolWord returns the canonical name for the word that a rules file uses for a tool: a canonical
// name, or a name of any harness ("bash", "run_shell_command", "Task"). It returns false for any
// other word, which may still be an MCP tool or a tool that this version does not know.
func ToolWord(word string) (string, bool) {
	if _, ok := Tool(word); ok {
		return word, true
	}
	for _, t := range worded {
		if t.named(word) {
			return t.tool, true
		}
	}
	return word, false
}

// fieldName returns the canonical name of a field of a tool input.
func fieldName(harness, tool, wire string) string {
	for _, r := range renames(harness, tool) {
		if r.wire == wire {
			return r.field
		}
	}
	return wire
}

// WireInput returns a copy of a canonical tool input with the harness's names of the fields, for a
// rewrite that is sent back.
func WireInput(harness, tool string, input map[string]any) map[string]any {
	out := make(map[string]any, len(input))
	for k, v := range input {
		out[wireName(harness, tool, k)] = v
	}
	return out
}

// Rewritten returns the rewritten input of an answer with a harness's names, nil for none.
func Rewritten(harness string, ev *cardea.Event, a cardea.Answer) map[string]any {
	if a.Rewrite == nil || ev.Call == nil {
		return nil
	}
	return WireInput(harness, ev.Call.Tool, a.Rewrite)
}

func wireName(harness, tool, field string) string {
	for _, r := range renames(harness, tool) {
		if r.field == field && !r.oneWay {
			return r.wire
		}
	}
	return field
}

// RunsInField is the name of the field with the folder of a command.
const RunsInField = "workdir"

// RunsIn returns the folder in which a harness runs a call, as the input names it. If it is
// uncertain, there may be several folders, or none. given is false if the input names none.
func RunsIn(harness string, c *cardea.Call) (dirs []string, certain, given bool) {
	v, there := c.Input[RunsInField]
	again := c.Shadowed[RunsInField]
	if !there || v == nil || !slices.ContainsFunc(renames(harness, c.Tool), func(r rename) bool { return r.field == RunsInField }) {
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

// texts returns the texts in a value.
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
	return slices.ContainsFunc(renames(harness, tool), func(r rename) bool { return r.field == RunsInField && r.wire == wire })
}

// lenient reports whether a harness's tools may have unknown fields. Their possible contents are
// known, from observation over many versions.
func lenient(harness string) bool { return harness == "claude-code" || harness == "copilot-cli" }

// isPlain reports whether a field of a harness's tool has no meaning for the gate, or was already
// read as a list. An object in place of another value may contain anything.
func isPlain(harness, tool, field string, value any) bool {
	name := field
	if holdsObject(value) {
		name += "{}"
	}
	return slices.Contains(strings.Fields(wordsOf(harness, tool).plain), name) || slices.ContainsFunc(renames(harness, tool), func(r rename) bool {
		head, _, list := strings.Cut(r.wire, "[]")
		return list && head == field
	})
}

// holdsObject reports whether a value is an object, or a list with one.
func holdsObject(v any) bool {
	list, _ := v.([]any)
	_, is := v.(map[string]any)
	return is || slices.ContainsFunc(list, holdsObject)
}

// words holds a harness's names of a tool and its input fields, where they differ from the
// canonical names. Each text is a list of words.
type words struct {
	harness, tool string
	// names are the tool's wire names. A wire name means the same tool in every harness that has
	// it, so that rules may use any of them.
	names string
	// fields are the wire names of fields, each with "=" and the canonical name. reads are further
	// spellings that are read but not written. A name with [] is of a list, each entry of which is
	// such a value, or holds it under the key after the dot: "files[].path".
	fields, reads string
	// plain are further fields, without meaning for the gate; {} marks one with an object.
	plain string
}

// named reports whether wire is a wire name of the tool.
func (w *words) named(wire string) bool {
	return strings.Contains(w.names, wire) && slices.Contains(strings.Fields(w.names), wire) // the first test avoids the list for most names
}

// wordsOf returns the words of a harness for a tool, or none if they are the canonical ones.
func wordsOf(harness, tool string) words {
	for _, w := range worded {
		if w.harness == harness && w.tool == tool {
			return w
		}
	}
	return words{}
}

// rename is a field whose wire name differs from the canonical one. A field with oneWay is read but
// not written.
type rename struct {
	wire, field string
	oneWay      bool
}

// renames returns the renamed fields of a harness's tool, in the order of the table.
func renames(harness, tool string) (out []rename) {
	w := wordsOf(harness, tool)
	for i, list := range []string{w.fields, w.reads} {
		for pair := range strings.FieldsSeq(list) {
			wire, field, _ := strings.Cut(pair, "=")
			out = append(out, rename{wire: wire, field: field, oneWay: i == 1})
		}
	}
	return out
}

// worded are the words that the vendors document or that were seen on the real programs
// (docs/harnesses.md). Calls with words of a harness without an adapter are judged, but never
// allowed (see [Foreign]).
var worded = [...]words{
	{harness: "claude-code", tool: "Agent", names: "Task"},

	// plain is of a declared tool of 1.0.102; the state of a shell is not stored
	{harness: "copilot-cli", tool: "Bash", names: "bash", plain: "mode shellId detach initial_wait"},
	{harness: "copilot-cli", tool: "PowerShell", names: "powershell", plain: "mode shellId detach initial_wait"},
	{harness: "copilot-cli", tool: "Read", names: "view", fields: "path=file_path"},
	{harness: "copilot-cli", tool: "Write", names: "create", fields: "path=file_path file_text=content"},
	{harness: "copilot-cli", tool: "Edit", names: "edit str_replace_editor",
		fields: "path=file_path old_str=old_string new_str=new_string file_text=content"},
	{harness: "copilot-cli", tool: "Grep", names: "grep rg", reads: "paths[]=path"},
	{harness: "copilot-cli", tool: "Glob", names: "glob", reads: "paths[]=path"},
	{harness: "copilot-cli", tool: "WebFetch", names: "web_fetch"},
	{harness: "copilot-cli", tool: "WebSearch", names: "web_search"},
	{harness: "copilot-cli", tool: "AskUserQuestion", names: "ask_user"},
	{harness: "copilot-cli", tool: "TodoWrite", names: "update_todo"},
	{harness: "copilot-cli", tool: "Agent", names: "task", fields: "agent_type=subagent_type"},
	{harness: "copilot-cli", tool: "Skill", names: "skill"},
	{harness: "copilot-cli", tool: "MultiEdit", fields: "path=file_path"},
	{harness: "copilot-cli", tool: "NotebookEdit", fields: "path=notebook_path"},
	{harness: "copilot-cli", tool: "apply_patch", reads: "patch=input"},

	{harness: "codex", tool: "Bash", names: "shell shell_command exec_command local_shell", fields: "workdir=workdir", reads: "cmd=command",
		plain: "yield_time_ms max_output_tokens tty login justification timeout_ms"},
	{harness: "codex", tool: "TodoWrite", names: "update_plan", fields: "plan=todos", plain: "explanation"},
	{harness: "codex", tool: "Agent", names: "spawn_agent", plain: "message agent_type fork_context items"},
	{harness: "codex", tool: "Read", names: "view_image", fields: "path=file_path"},
	{harness: "codex", tool: "WebSearch", names: "web_search"},
	{harness: "codex", tool: "AskUserQuestion", names: "request_user_input"},
	{harness: "codex", tool: "apply_patch", fields: "command=input"},

	{harness: "gemini-cli", tool: "Bash", names: "run_shell_command", fields: "dir_path=workdir is_background=run_in_background",
		reads: "directory=workdir"},
	{harness: "gemini-cli", tool: "Write", names: "write_file", reads: "path=file_path"},
	{harness: "gemini-cli", tool: "Read", names: "read_file", reads: "absolute_path=file_path path=file_path", plain: "start_line end_line"},
	{harness: "gemini-cli", tool: "Edit", names: "replace", fields: "allow_multiple=replace_all", reads: "path=file_path",
		plain: "instruction expected_replacements"},
	{harness: "gemini-cli", tool: "Glob", names: "glob list_directory", fields: "dir_path=path",
		plain: "case_sensitive respect_git_ignore respect_gemini_ignore ignore file_filtering_options{}"},
	{harness: "gemini-cli", tool: "Grep", names: "grep_search search_file_content read_many_files", fields: "dir_path=path",
		reads: "include_pattern=glob include[]=glob paths[]=glob",
		plain: "exclude_pattern case_sensitive fixed_strings max_matches_per_file total_max_matches names_only no_ignore before after exclude recursive useDefaultExcludes file_filtering_options{}"},
	{harness: "gemini-cli", tool: "WebFetch", names: "web_fetch"},
	{harness: "gemini-cli", tool: "WebSearch", names: "google_web_search"},
	{harness: "gemini-cli", tool: "TodoWrite", names: "write_todos"},
	{harness: "gemini-cli", tool: "AskUserQuestion", names: "ask_user"},
	{harness: "gemini-cli", tool: "ExitPlanMode", names: "exit_plan_mode", plain: "plan_path plan_filename"},
	{harness: "gemini-cli", tool: "Skill", names: "activate_skill", fields: "name=skill"},

	{harness: "qwen-code", tool: "Bash", names: "run_shell_command", fields: "directory=workdir is_background=run_in_background"},
	{harness: "qwen-code", tool: "Write", names: "write_file"},
	{harness: "qwen-code", tool: "Read", names: "read_file", reads: "absolute_path=file_path path=file_path"},
	{harness: "qwen-code", tool: "Edit", names: "edit"},
	{harness: "qwen-code", tool: "Glob", names: "glob list_directory", plain: "ignore respect_git_ignore file_filtering_options{}"},
	{harness: "qwen-code", tool: "Grep", names: "grep_search read_many_files", reads: "include=glob paths[]=glob",
		plain: "limit exclude recursive useDefaultExcludes file_filtering_options{}"},
	{harness: "qwen-code", tool: "WebFetch", names: "web_fetch"},
	{harness: "qwen-code", tool: "WebSearch", names: "web_search"},
	{harness: "qwen-code", tool: "TodoWrite", names: "todo_write"},
	{harness: "qwen-code", tool: "Agent", names: "agent task"},
	{harness: "qwen-code", tool: "Skill", names: "skill"},
	{harness: "qwen-code", tool: "ExitPlanMode", names: "exit_plan_mode"},
	{harness: "qwen-code", tool: "AskUserQuestion", names: "ask_user_question"},

	{harness: "opencode", tool: "Bash", names: "bash shell", fields: "workdir=workdir", reads: "resources[]=command"},
	{harness: "opencode", tool: "Read", names: "read", fields: "filePath=file_path", reads: "path=file_path resources[]=file_path"},
	{harness: "opencode", tool: "Write", names: "write", fields: "filePath=file_path", reads: "path=file_path"},
	{harness: "opencode", tool: "Edit", names: "edit", fields: "filePath=file_path oldString=old_string newString=new_string replaceAll=replace_all",
		reads: "path=file_path resources[]=file_path"},
	{harness: "opencode", tool: "MultiEdit", names: "multiedit", fields: "filePath=file_path"},
	{harness: "opencode", tool: "apply_patch", names: "patch", fields: "patchText=input"},
	{harness: "opencode", tool: "Glob", names: "glob list", plain: "ignore limit"},
	{harness: "opencode", tool: "Grep", names: "grep", fields: "include=glob"},
	{harness: "opencode", tool: "WebFetch", names: "webfetch", plain: "format timeout"},
	{harness: "opencode", tool: "WebSearch", names: "websearch", plain: "numResults livecrawl type contextMaxCharacters"},
	{harness: "opencode", tool: "Agent", names: "task subagent", plain: "session_id task_id command background"},
	{harness: "opencode", tool: "TodoWrite", names: "todowrite"},
	{harness: "opencode", tool: "Skill", names: "skill", fields: "name=skill"},
	{harness: "opencode", tool: "AskUserQuestion", names: "question"},

	{harness: "factory-droid", tool: "Bash", names: "Execute", plain: "riskLevel riskLevelReason summary fireAndForget"},
	{harness: "factory-droid", tool: "Write", names: "Create", plain: "explanation"},
	{harness: "factory-droid", tool: "Glob", names: "LS", fields: "folder=path", reads: "directory_path=path patterns[]=pattern",
		plain: "ignorePatterns excludePatterns"},
	{harness: "factory-droid", tool: "WebFetch", names: "FetchUrl"},
	{harness: "factory-droid", tool: "apply_patch", names: "ApplyPatch"},
	{harness: "factory-droid", tool: "Agent", names: "Task"},
	{harness: "factory-droid", tool: "ExitPlanMode", names: "ExitSpecMode"},
	{harness: "factory-droid", tool: "AskUserQuestion", names: "AskUser"},
	{harness: "factory-droid", tool: "Edit", fields: "old_str=old_string new_str=new_string change_all=replace_all", plain: "explanation"},
	{harness: "factory-droid", tool: "MultiEdit", fields: "changes=edits"},
	{harness: "factory-droid", tool: "Grep", fields: "glob_pattern=glob", plain: "case_insensitive line_numbers context_before context_after"},
	{harness: "factory-droid", tool: "Skill", reads: "name=skill"},
	{harness: "factory-droid", tool: "WebSearch", plain: "category numResults type includeDomains excludeDomains"},

	{harness: "cline", tool: "Bash", names: "run_commands execute_command", reads: "commands[]=command cmd=command", plain: "requires_approval timeout"},
	{harness: "cline", tool: "Edit", names: "editor replace_in_file", fields: "path=file_path old_text=old_string new_text=new_string",
		reads: "diff=new_string", plain: "insert_line"},
	{harness: "cline", tool: "Read", names: "read_files read_file", fields: "path=file_path", reads: "filePath=file_path files[].path=file_path",
		plain: "start_line end_line task_progress"},
	{harness: "cline", tool: "Write", names: "write_to_file", fields: "path=file_path", plain: "task_progress"},
	{harness: "cline", tool: "Glob", names: "list_files", plain: "recursive task_progress"},
	{harness: "cline", tool: "Grep", names: "search_files", fields: "regex=pattern file_pattern=glob"},
	{harness: "cline", tool: "WebFetch", names: "fetch_web_content web_fetch", reads: "requests[].url=url"},
	{harness: "cline", tool: "WebSearch", names: "web_search"},
	{harness: "cline", tool: "Skill", names: "skills use_skill"},
	{harness: "cline", tool: "AskUserQuestion", names: "ask_question ask_followup_question", plain: "question options task_progress"},

	{harness: "pi", tool: "Bash", names: "bash"},
	{harness: "pi", tool: "PowerShell", names: "powershell"},
	{harness: "pi", tool: "Read", names: "read", fields: "path=file_path"},
	{harness: "pi", tool: "Write", names: "write", fields: "path=file_path"},
	{harness: "pi", tool: "Edit", names: "edit", fields: "path=file_path oldText=old_string newText=new_string",
		reads: "edits[].oldText=old_string edits[].newText=new_string"},
	{harness: "pi", tool: "Grep", names: "grep", plain: "ignoreCase literal limit"},
	{harness: "pi", tool: "Glob", names: "find ls", plain: "limit"},
	{harness: "pi", tool: "CodeMode", names: "codemode"},
	{harness: "pi", tool: "ToolSearch", names: "tool_search"},

	{harness: "cursor", tool: "Bash", names: "Shell", fields: "working_directory=workdir", reads: "cwd=workdir"},
	{harness: "cursor", tool: "Agent", names: "Task"},
	{harness: "cursor", tool: "Read", reads: "path=file_path"},
	{harness: "cursor", tool: "Write", reads: "path=file_path contents=content"},
	{harness: "cursor", tool: "Edit", reads: "path=file_path"},
	{harness: "cursor", tool: "Grep", reads: "glob_filter=glob", plain: "case_insensitive"},

	{harness: "vscode", tool: "Bash", names: "runTerminalCommand run_in_terminal", plain: "explanation goal isBackground mode"},
	{harness: "vscode", tool: "Write", names: "create_file", fields: "filePath=file_path"},
	{harness: "vscode", tool: "Edit", names: "replace_string_in_file multi_replace_string_in_file insert_edit_into_file editFiles",
		fields: "filePath=file_path oldString=old_string newString=new_string",
		reads:  "code=new_string files[]=file_path replacements[].filePath=file_path replacements[].newString=new_string", plain: "explanation"},
	{harness: "vscode", tool: "Read", names: "read_file", fields: "filePath=file_path", plain: "startLine endLine"},
	{harness: "vscode", tool: "Glob", names: "list_dir file_search", fields: "query=pattern", plain: "maxResults"},
	{harness: "vscode", tool: "Grep", names: "grep_search", fields: "query=pattern includePattern=glob", plain: "isRegexp maxResults includeIgnoredFiles"},
	{harness: "vscode", tool: "WebFetch", names: "fetch_webpage", reads: "urls[]=url", plain: "query"},
	{harness: "vscode", tool: "TodoWrite", names: "manage_todo_list", fields: "todoList=todos"},
	{harness: "vscode", tool: "Agent", names: "runSubagent"},

	{harness: "windsurf-cascade", tool: "Bash", names: "pre_run_command", fields: "command_line=command cwd=workdir"},
	{harness: "windsurf-cascade", tool: "Read", names: "pre_read_code"},
	{harness: "windsurf-cascade", tool: "MultiEdit", names: "pre_write_code"},

	{harness: "kiro", tool: "Bash", names: "execute_bash shell", fields: "working_dir=workdir", plain: "summary"},
	{harness: "kiro", tool: "Read", names: "fs_read", fields: "path=file_path", reads: "operations[].path=file_path", plain: "mode summary"},
	{harness: "kiro", tool: "Edit", names: "fs_write", fields: "path=file_path old_str=old_string new_str=new_string", reads: "file_text=new_string",
		plain: "command insert_line summary"},

	{harness: "amp", tool: "Bash", names: "shell_command", fields: "cmd=command workdir=workdir", reads: "cwd=workdir"},
	{harness: "amp", tool: "Edit", names: "edit_file", fields: "path=file_path old_str=old_string new_str=new_string", plain: "replace_all"},
	{harness: "amp", tool: "Write", names: "create_file", fields: "path=file_path"},
	{harness: "amp", tool: "Glob", names: "glob", fields: "filePattern=pattern", plain: "limit"},
	{harness: "amp", tool: "WebSearch", names: "web_search", plain: "objective search_queries max_results"},
	{harness: "amp", tool: "WebFetch", names: "read_web_page", plain: "objective forceRefetch"},
	{harness: "amp", tool: "TodoWrite", names: "todo_write"},
	{harness: "amp", tool: "Read", fields: "path=file_path", plain: "read_range"},
	{harness: "amp", tool: "Grep", plain: "caseSensitive literal"},

	{harness: "augment", tool: "Bash", names: "launch-process", fields: "cwd=workdir", plain: "wait max_wait_seconds"},
	{harness: "augment", tool: "Edit", names: "str-replace-editor", fields: "path=file_path",
		plain: "command instruction_reminder old_str_1 new_str_1 old_str_start_line_number_1 old_str_end_line_number_1 insert_line_1"},
	{harness: "augment", tool: "Write", names: "save-file", fields: "path=file_path file_content=content",
		plain: "instructions_reminder add_last_line_newline"},
	{harness: "augment", tool: "Read", names: "view", fields: "path=file_path", plain: "type view_range"},
	{harness: "augment", tool: "WebFetch", names: "web-fetch"},
	{harness: "augment", tool: "WebSearch", names: "web-search"},

	{harness: "crush", tool: "Bash", names: "bash", fields: "working_dir=workdir"},
	{harness: "crush", tool: "Edit", names: "edit"},
	{harness: "crush", tool: "MultiEdit", names: "multiedit"},
	{harness: "crush", tool: "Write", names: "write"},
	{harness: "crush", tool: "Read", names: "view"},
	{harness: "crush", tool: "Glob", names: "ls glob", plain: "ignore depth"},
	{harness: "crush", tool: "Grep", names: "grep", fields: "include=glob", plain: "literal_text"},
	{harness: "crush", tool: "WebFetch", names: "fetch", plain: "format timeout"},
	{harness: "crush", tool: "Agent", names: "agent"},
	{harness: "crush", tool: "TodoWrite", names: "todos"},

	{harness: "grok-build", tool: "Bash", names: "run_terminal_command"},

	{harness: "devin-cli", tool: "Bash", names: "exec"},

	{harness: "hermes-agent", tool: "Bash", names: "terminal", fields: "workdir=workdir"},
	{harness: "goose", tool: "Bash", names: "developer__shell", plain: "timeout_secs"},
}
