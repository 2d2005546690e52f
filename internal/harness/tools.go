package harness

// FieldKind is the role of a field of a tool input for the gate.
type FieldKind uint8

// The roles.
const (
	// Plain is a field that the gate does not read.
	Plain FieldKind = iota
	// Command is text for a shell.
	Command
	// FilePath is the one file that the tool reads or writes.
	FilePath
	// SearchPath is a folder or file that the tool searches, with everything below it.
	SearchPath
	// URL is an address that the tool contacts.
	URL
	// Pattern is the pattern of a search.
	Pattern
	// Content is text that the tool writes.
	Content
	// Code is text that is run as code: the tool runs it, or writes it to a place where it is run.
	Code
	// Script is a file of code that the tool runs.
	Script
	// Prompt is text that an agent takes as its task, now or later.
	Prompt
	// Patch is a patch text that names its files itself.
	Patch
	// Folder is the folder in which a command runs ([RunsIn]).
	Folder
	// Shell is the program that reads the text of the command.
	Shell
)

// Form is the JSON type of a field.
type Form uint8

// The forms.
const (
	Text Form = iota
	Number
	Flag
	List
	Map
	// Anything is a field without a documented type.
	Anything
)

// Field is a documented field of a tool input, under its canonical name.
type Field struct {
	Name string
	Form Form
	Role FieldKind
}

// ToolInfo describes a tool whose name and fields are documented.
type ToolInfo struct {
	// Name is the canonical name. It is Claude Code's if Claude Code has the tool, so that one rule
	// applies to every harness.
	Name string
	// Primary is the field that a rule means if it names no field: "command" for Bash. "" means
	// that no field identifies the call.
	Primary string
	// Fields are the documented fields.
	Fields []Field
	// EditsFiles is set for tools that edit files by themselves.
	EditsFiles bool
	// Harmless is set for tools that change nothing outside of the conversation.
	Harmless bool
}

// OnlyReads reports whether a tool only reads files, or is harmless.
func (t ToolInfo) OnlyReads() bool {
	return t.Harmless || !t.EditsFiles && len(t.FieldsOf(FilePath))+len(t.FieldsOf(SearchPath)) > 0
}

// FieldsOf returns the names of the fields with a role.
func (t ToolInfo) FieldsOf(r FieldKind) []string {
	var out []string
	for _, f := range t.Fields {
		if f.Role == r {
			out = append(out, f.Name)
		}
	}
	return out
}

// Tool returns a tool by its canonical name, exactly as written. It does not know the tools of MCP
// servers (mcp__SERVER__TOOL): a name does not reveal what a server does, so they are treated as
// unknown and the setting default never allows them.
func Tool(name string) (ToolInfo, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return ToolInfo{}, false
}

// Tools returns the tools that this version knows, in a fixed order.
func Tools() []ToolInfo { return append([]ToolInfo(nil), tools[:]...) }

// tools are the tools that Claude Code documents (https://code.claude.com/docs/en/hooks) or
// declares (2.1.332), apply_patch of Codex CLI and Copilot CLI, and the scripts of pi. The folder
// and the shell of a command are fields that Claude Code does not have. It is a plain array so that
// a process which needs one entry builds nothing at its start.
var tools = [...]ToolInfo{
	{Name: "Bash", Primary: "command", Fields: []Field{
		{"command", Text, Command}, {"description", Text, Plain}, {"timeout", Number, Plain}, {RunsInField, Text, Folder}, {"shell", Text, Shell},
		{"run_in_background", Flag, Plain}, {"dangerouslyDisableSandbox", Flag, Plain}}},
	{Name: "PowerShell", Primary: "command", Fields: []Field{
		{"command", Text, Command}, {"description", Text, Plain}, {"timeout", Number, Plain}, {RunsInField, Text, Folder},
		{"run_in_background", Flag, Plain}, {"dangerouslyDisableSandbox", Flag, Plain}}},
	{Name: "Monitor", Primary: "command", Fields: []Field{
		{"command", Text, Command}, {"ws", Map, URL}, {"description", Text, Plain},
		{"timeout_ms", Number, Plain}, {"persistent", Flag, Plain}, {"dangerouslyDisableSandbox", Flag, Plain}}},
	{Name: "Read", Primary: "file_path", Fields: []Field{
		{"file_path", Text, FilePath}, {"offset", Number, Plain}, {"limit", Number, Plain},
		{"pages", Text, Plain}, {"allow_large", Flag, Plain}}},
	{Name: "Write", Primary: "file_path", EditsFiles: true, Fields: []Field{
		{"file_path", Text, FilePath}, {"content", Text, Content}}},
	{Name: "Edit", Primary: "file_path", EditsFiles: true, Fields: []Field{
		{"file_path", Text, FilePath}, {"old_string", Text, Plain}, {"new_string", Text, Content},
		{"replace_all", Flag, Plain}}},
	{Name: "MultiEdit", Primary: "file_path", EditsFiles: true, Fields: []Field{
		{"file_path", Text, FilePath}, {"edits", List, Content}}},
	{Name: "NotebookEdit", Primary: "notebook_path", EditsFiles: true, Fields: []Field{
		{"notebook_path", Text, FilePath}, {"cell_id", Text, Plain}, {"new_source", Text, Code},
		{"cell_type", Text, Plain}, {"edit_mode", Text, Plain}}},
	{Name: "apply_patch", Primary: "input", EditsFiles: true, Fields: []Field{
		{"input", Text, Patch}}},
	{Name: "Glob", Primary: "pattern", Fields: []Field{
		{"pattern", Text, Pattern}, {"path", Text, SearchPath}}},
	{Name: "Grep", Primary: "pattern", Fields: []Field{
		{"pattern", Text, Pattern}, {"path", Text, SearchPath}, {"glob", Text, Plain}, {"type", Text, Plain},
		{"output_mode", Text, Plain}, {"-i", Flag, Plain}, {"-n", Flag, Plain}, {"-o", Flag, Plain},
		{"-A", Number, Plain}, {"-B", Number, Plain}, {"-C", Number, Plain}, {"context", Number, Plain},
		{"head_limit", Number, Plain}, {"offset", Number, Plain}, {"multiline", Flag, Plain}}},
	{Name: "WebFetch", Primary: "url", Fields: []Field{
		{"url", Text, URL}, {"prompt", Text, Plain}, {"offset", Number, Plain}}},
	{Name: "WebSearch", Primary: "query", Fields: []Field{
		{"query", Text, Plain}, {"allowed_domains", List, Plain}, {"blocked_domains", List, Plain}}},
	{Name: "Agent", Primary: "subagent_type", Fields: []Field{
		{"description", Text, Plain}, {"prompt", Text, Prompt}, {"subagent_type", Text, Plain}, {"model", Text, Plain},
		{"run_in_background", Flag, Plain}, {"name", Text, Plain}, {"isolation", Text, Plain}, {"mode", Text, Plain},
		{"effort", Text, Plain}, {"team_name", Text, Plain}}},
	// The hook also gets the fields from type on.
	{Name: "SendMessage", Primary: "to", Fields: []Field{
		{"to", Text, Plain}, {"summary", Text, Plain}, {"message", Anything, Prompt}, {"notify_when_idle", Flag, Plain},
		{"type", Text, Plain}, {"recipient", Text, Plain}, {"recipient_kind", Text, Plain}, {"content", Anything, Prompt}}},
	{Name: "ListAgents", Harmless: true, Fields: []Field{
		{"channel", Text, Plain}, {"q", Text, Plain}, {"cursor", Text, Plain}}},
	{Name: "Workflow", Primary: "name", Fields: []Field{
		{"scriptPath", Text, Script}, {"script", Text, Code}, {"name", Text, Plain}, {"description", Text, Plain}, {"title", Text, Plain},
		{"args", Anything, Prompt}, {"resumeFromRunId", Text, Plain}}},
	{Name: "CodeMode", Fields: []Field{{"code", Text, Plain}}}, // each call of its script is a call of its own
	{Name: "CronCreate", Primary: "prompt", Fields: []Field{
		{"cron", Text, Plain}, {"prompt", Text, Prompt}, {"recurring", Flag, Plain}, {"durable", Flag, Plain}}},
	{Name: "CronDelete", Primary: "id", Fields: []Field{{"id", Text, Plain}}},
	{Name: "CronList", Harmless: true},
	{Name: "ScheduleWakeup", Primary: "prompt", Fields: []Field{
		{"delaySeconds", Number, Plain}, {"reason", Text, Plain}, {"prompt", Text, Prompt}, {"stop", Flag, Plain}, {"noop", Flag, Plain}}},
	{Name: "EnterWorktree", Primary: "path", Fields: []Field{{"path", Text, Plain}, {"name", Text, Plain}}},
	{Name: "ExitWorktree", Primary: "action", Fields: []Field{{"action", Text, Plain}, {"discard_changes", Flag, Plain}}},
	{Name: "Skill", Primary: "skill", Fields: []Field{
		{"skill", Text, Prompt}, {"args", Anything, Prompt}}},
	{Name: "ToolSearch", Primary: "query", Harmless: true, Fields: []Field{
		{"query", Text, Plain}, {"limit", Number, Plain}, {"max_results", Number, Plain}}},
	{Name: "ReportFindings", Fields: []Field{{"level", Text, Plain}, {"findings", List, Plain}}},
	{Name: "TodoWrite", Harmless: true, Fields: []Field{{"todos", List, Plain}}},
	{Name: "TaskCreate", Primary: "subject", Harmless: true, Fields: []Field{
		{"subject", Text, Plain}, {"description", Text, Plain}, {"activeForm", Text, Plain}, {"metadata", Map, Plain}}},
	{Name: "TaskUpdate", Primary: "taskId", Harmless: true, Fields: []Field{
		{"taskId", Text, Plain}, {"status", Text, Plain}, {"subject", Text, Plain}, {"description", Text, Plain},
		{"addBlocks", List, Plain}, {"addBlockedBy", List, Plain}, {"owner", Text, Plain}, {"metadata", Map, Plain}}},
	{Name: "TaskStop", Primary: "task_id", Fields: []Field{{"task_id", Text, Plain}, {"shell_id", Text, Plain}}},
	{Name: "AskUserQuestion", Harmless: true, Fields: []Field{
		{"questions", List, Plain}, {"answers", Anything, Plain}, {"annotations", Map, Plain}, {"metadata", Map, Plain}}},
	{Name: "EnterPlanMode", Harmless: true},
	{Name: "ExitPlanMode", Primary: "plan", Harmless: true, Fields: []Field{
		{"plan", Text, Plain}, {"planFilePath", Text, Plain}, {"allowedPrompts", List, Plain}}},
}
