package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/harness/dialect"
)

// before returns a message of a harness about a call that is still to run.
func before(name, tool, input string) string {
	form := map[string]string{
		"codex":            `{"session_id":"s","turn_id":"t","model":"m","cwd":"/w","hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s}`,
		"gemini-cli":       `{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":%q,"tool_input":%s}`,
		"qwen-code":        `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":%q,"tool_input":%s}`,
		"factory-droid":    `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","permission_mode":"off","tool_name":%q,"tool_input":%s}`,
		"cline":            `{"taskId":"s","workspaceRoots":["/w"],"hookName":"tool_call","tool_call":{"name":%q,"input":%s}}`,
		"opencode":         `{"event":"tool.execute.before","cwd":"/w","input":{"tool":%q,"sessionID":"ses_1"},"output":{"args":%s}}`,
		"pi":               `{"type":"tool_call","cwd":"/w","hasUI":true,"toolName":%q,"toolCallId":"c","input":%s}`,
		"cursor":           `{"conversation_id":"c","cwd":"/w","hook_event_name":"preToolUse","tool_name":%q,"tool_input":%s}`,
		"vscode":           `{"sessionId":"s","cwd":"/w","hookEventName":"PreToolUse","tool_name":%q,"tool_input":%s}`,
		"windsurf-cascade": `{"agent_action_name":%q,"trajectory_id":"t","tool_info":%s}`,
		"kiro":             `{"hook_event_name":"preToolUse","cwd":"/w","tool_name":%q,"tool_input":%s}`,
		"amp":              `{"event":"tool.call","cwd":"/w","thread":{"id":"T"},"tool":%q,"input":%s}`,
		"augment":          `{"hook_event_name":"PreToolUse","cwd":"/w","tool_name":%q,"tool_input":%s}`,
		"crush":            `{"event":"PreToolUse","session_id":"s","cwd":"/w","tool_name":%q,"tool_input":%s}`,
	}[name]
	return fmt.Sprintf(form, tool, input)
}

func parse(t *testing.T, name, raw string) *cardea.Event {
	t.Helper()
	p, err := harness.Read([]byte(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return dialect.Find(name).Parse(p)
}

// did returns the accesses of a call's parts, and the commands that it runs.
func did(ev *cardea.Event) string {
	var out []string
	for _, p := range call.Analyse(ev, knowledge.System{Home: "/home/u"}).Call.Parts {
		if len(p.Argv) > 0 {
			out = append(out, p.Dir+"$ "+p.Text)
		}
		for _, a := range p.Access {
			if a.Path != "" || a.Host != "" {
				out = append(out, string(a.Kind)+" "+a.Path+a.Host)
			}
		}
	}
	return strings.Join(slices.Compact(out), ", ")
}

// What each tool of each harness does: the canonical tool, and what is judged.
func TestTools(t *testing.T) {
	const patch = `*** Begin Patch\n*** Add File: new.txt\n+x\n*** Delete File: old.txt\n*** End Patch`
	for _, c := range []struct{ harness, tool, input, canonical, does string }{
		{"codex", "Bash", `{"command":"make x"}`, "Bash", "/w$ make x"},
		{"codex", "Bash", `{"command":"apply_patch <<'EOF'\n` + patch + `\nEOF\n"}`, "apply_patch", "write /w/new.txt, delete /w/old.txt"},
		{"codex", "apply_patch", `{"command":"` + patch + `"}`, "apply_patch", "write /w/new.txt, delete /w/old.txt"},
		{"codex", "exec_command", `{"cmd":"make x","workdir":"sub"}`, "Bash", "/w/sub$ make x"},
		{"codex", "update_plan", `{"plan":[],"explanation":"e"}`, "TodoWrite", ""},
		{"codex", "mcp__a__b", `{}`, "mcp__a__b", ""},
		{"gemini-cli", "run_shell_command", `{"command":"make x","dir_path":"/other","is_background":true}`, "Bash", "/other$ make x"},
		{"gemini-cli", "write_file", `{"file_path":"a","content":"x"}`, "Write", "write /w/a"},
		{"gemini-cli", "replace", `{"file_path":"/w/a","old_string":"a","new_string":"b","instruction":"i","allow_multiple":true}`, "Edit", "write /w/a"},
		{"gemini-cli", "list_directory", `{"dir_path":"/etc"}`, "Glob", "read /etc"},
		{"gemini-cli", "read_many_files", `{"include":["/etc/ssl/*.key"]}`, "Grep", "read /w, read /etc/ssl"},
		{"gemini-cli", "ask_user", `{"questions":[]}`, "AskUserQuestion", ""},
		{"qwen-code", "run_shell_command", `{"command":"make x","directory":"/q","is_background":false,"timeout":5}`, "Bash", "/q$ make x"},
		{"qwen-code", "edit", `{"file_path":"/w/a","old_string":"a","new_string":"b"}`, "Edit", "write /w/a"},
		{"qwen-code", "todo_write", `{"todos":[]}`, "TodoWrite", ""},
		{"opencode", "bash", `{"command":"make x","workdir":"/o","description":"d"}`, "Bash", "/o$ make x"},
		{"opencode", "edit", `{"filePath":"/w/a","oldString":"a","newString":"b","replaceAll":true}`, "Edit", "write /w/a"},
		{"opencode", "apply_patch", `{"patchText":"` + patch + `"}`, "apply_patch", "write /w/new.txt, delete /w/old.txt"},
		{"opencode", "webfetch", `{"url":"https://example.com/x","format":"text"}`, "WebFetch", "network example.com"},
		{"factory-droid", "Execute", `{"command":"make x","riskLevel":"low","riskLevelReason":"r","summary":"s"}`, "Bash", "/w$ make x"},
		{"factory-droid", "Create", `{"file_path":"/w/a","content":"x"}`, "Write", "write /w/a"},
		{"factory-droid", "Edit", `{"file_path":"/w/a","old_str":"a","new_str":"b","change_all":true}`, "Edit", "write /w/a"},
		{"factory-droid", "LS", `{"directory_path":"/etc"}`, "Glob", "read /etc"},
		{"factory-droid", "Glob", `{"patterns":["/etc/*","*.go"],"folder":"/w"}`, "Glob", "read /w, read /etc, read /w"},
		{"cline", "run_commands", `{"commands":["make x","cd /tmp","make y"]}`, "Bash", "/w$ make x, /tmp$ cd /tmp, read /tmp, /w$ make y"},
		{"cline", "run_commands", `{"command":"make x"}`, "Bash", "/w$ make x"},
		{"cline", "execute_command", `{"command":"make x","requires_approval":"true"}`, "Bash", "/w$ make x"},
		{"cline", "editor", `{"path":"/w/new.txt","new_text":"x"}`, "Edit", "write /w/new.txt"},
		{"cline", "read_files", `{"files":[{"path":"/w/a"},{"path":"/etc/shadow"}]}`, "Read", "read /w/a, read /etc/shadow"},
		{"cline", "replace_in_file", `{"path":"a","diff":"d"}`, "Edit", "write /w/a"},
		{"pi", "edit", `{"path":"a.txt","edits":[{"oldText":"a","newText":"b"},{"oldText":"c","newText":"d"}]}`, "Edit", "write /w/a.txt"},
		{"pi", "write", `{"path":"new.txt","content":"x"}`, "Write", "write /w/new.txt"},
		{"pi", "ls", `{"path":"/etc"}`, "Glob", "read /etc"},
		{"pi", "codemode", `{"code":"return 1"}`, "CodeMode", ""},
		{"pi", "tool_search", `{"query":"x","limit":5}`, "ToolSearch", ""},
		{"pi", "powershell", `{"command":"ls"}`, "PowerShell", ""},
		{"cursor", "Shell", `{"command":"make x","working_directory":"/c"}`, "Bash", "/c$ make x"},
		{"cursor", "Write", `{"path":"a","contents":"x"}`, "Write", "write /w/a"},
		{"vscode", "run_in_terminal", `{"command":"make x","explanation":"e","isBackground":false}`, "Bash", "/w$ make x"},
		{"vscode", "editFiles", `{"files":["/w/a","/w/b"]}`, "Edit", "write /w/a, write /w/b"},
		{"vscode", "multi_replace_string_in_file", `{"replacements":[{"filePath":"/w/a","oldString":"x","newString":"y"},{"filePath":"/w/b","oldString":"x","newString":"y"}],"explanation":"e"}`,
			"Edit", "write /w/a, write /w/b"},
		{"windsurf-cascade", "pre_run_command", `{"command_line":"make x","cwd":"/v"}`, "Bash", "/v$ make x"},
		{"windsurf-cascade", "pre_write_code", `{"file_path":"/w/a","edits":[]}`, "MultiEdit", "write /w/a"},
		{"windsurf-cascade", "pre_mcp_tool_use", `{"mcp_server_name":"a","mcp_tool_name":"b","mcp_tool_arguments":{}}`, "mcp__a__b", ""},
		{"kiro", "fs_read", `{"operations":[{"mode":"Line","path":"/etc/shadow"}]}`, "Read", "read /etc/shadow"},
		{"kiro", "fs_write", `{"command":"create","path":"/w/a","file_text":"x"}`, "Edit", "write /w/a"},
		{"kiro", "@postgres/query", `{"sql":"x"}`, "mcp__postgres__query", ""},
		{"amp", "Bash", `{"cmd":"make x","cwd":"/a"}`, "Bash", "/a$ make x"},
		{"amp", "create_file", `{"path":"/w/a","content":"x"}`, "Write", "write /w/a"},
		{"augment", "launch-process", `{"command":"make x","cwd":"/a","wait":true}`, "Bash", "/a$ make x"},
		{"augment", "save-file", `{"path":"/w/a","file_content":"x"}`, "Write", "write /w/a"},
		{"crush", "bash", `{"command":"make x","working_dir":"/a","description":"d"}`, "Bash", "/a$ make x"},
		{"crush", "view", `{"file_path":"/w/a"}`, "Read", "read /w/a"},
	} {
		ev := parse(t, c.harness, before(c.harness, c.tool, c.input))
		if ev.Kind != cardea.PreToolUse || ev.Call == nil || ev.Call.Tool != c.canonical || len(ev.Faults) > 0 {
			t.Errorf("%s %s: %+v, %v", c.harness, c.tool, ev.Call, ev.Faults)
			continue
		}
		if got := did(ev); got != c.does {
			t.Errorf("%s %s %s does %q", c.harness, c.tool, c.input, got)
		}
	}
}

// What an agent may try with its own input, and what of it must stay in sight.
func TestInputsOfAnAdversary(t *testing.T) {
	for _, c := range []struct{ harness, tool, input, does string }{
		// a field that only another harness has, or a folder that is not certain: the call is
		// judged in each folder
		{"gemini-cli", "run_shell_command", `{"command":"rm -r build","workdir":"/tmp"}`, "/tmp$ rm -r build, delete /tmp/build, /w$ rm -r build, delete /w/build"},
		{"gemini-cli", "run_shell_command", `{"command":"rm -r build","dir_path":"/tmp","workdir":"/w"}`, "/tmp$ rm -r build, delete /tmp/build, /w$ rm -r build, delete /w/build"},
		{"gemini-cli", "run_shell_command", `{"command":"rm -r build","dir_path":"~/x"}`, "/home/u/x$ rm -r build, delete /home/u/x/build, /w$ rm -r build, delete /w/build"},
		{"gemini-cli", "run_shell_command", `{"command":"rm -r build","dir_path":7}`, "$ rm -r build, /w$ rm -r build, delete /w/build"},
		// a second list, a list in a list, an entry without what it is about
		{"cline", "run_commands", `{"commands":["make x"],"command":"rm -r build"}`, "/w$ make x, /w$ rm -r build, delete /w/build"},
		{"cline", "run_commands", `{"commands":["make x"],"Commands":["make y"]}`, "/w$ make x, /w$ make y"},
		{"cline", "run_commands", `{"commands":[["rm -r build"]]}`, ""},
		{"cline", "read_files", `{"files":[{"path":"/w/a"},{"Path":"/etc/shadow"}]}`, "read /w/a, read /etc/shadow, write /etc/shadow"},
		// a here-document does not reach from one command into the next
		{"cline", "run_commands", `{"commands":["cat <<E","rm -r build","E"]}`, "/w$ cat, /w$ rm -r build, delete /w/build, /w$ E"},
		// a tool with an unknown field
		{"factory-droid", "Execute", `{"command":"make x","host":"production"}`, "/w$ make x"},
		// the name of a server that the harness does not confirm
		{"gemini-cli", "mcp_a_b_c", `{}`, ""},
		{"crush", "mcp_a_b_c", `{}`, ""},
	} {
		ev := parse(t, c.harness, before(c.harness, c.tool, c.input))
		analysed := call.Analyse(ev, knowledge.System{Home: "/home/u"})
		if got := did(ev); got != c.does || len(ev.Faults)+len(analysed.Call.Opaque) == 0 && !strings.Contains(c.input, "<<") {
			t.Errorf("%s %s %s does %q, faults %v", c.harness, c.tool, c.input, got, ev.Faults)
		}
	}
}

// A command that only looks like a patch stays a command.
func TestWhatIsNoPatch(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch"
	for _, command := range []string{
		"apply_patch <<EOF\n" + patch + "\nEOF\n",                         // bash changes what is in it
		"apply_patch <<'EOF'\n" + patch + "\nEOF\nrm -r build\n",          // something follows
		"apply_patch <<'EOF'; rm -r build\n" + patch + "\nEOF\n",          // on the same line
		"apply_patch <<'EOF' >/etc/x\n" + patch + "\nEOF\n",               // with a redirection
		"apply_patch <<'EOF'\n" + patch + "\n",                            // without an end
		"apply_patch <<'EOF'\nEOF\nrm -r build\n" + patch + "\nEOF\n",     // which ends early
		"apply_patch <<''\n" + patch + "\n\nrm -r build\n",                // an empty mark
		"cd sub && apply_patch <<'EOF'\n" + patch + "\nEOF\n",             // in another folder
		"apply_patch() { rm -r build; }; apply_patch\n" + patch + "\nEOF", // another program
	} {
		text, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if ev := parse(t, "codex", before("codex", "Bash", string(text))); ev.Call.Tool != "Bash" {
			t.Errorf("%q is taken for a patch", command)
		}
	}
	if ev := parse(t, "codex", before("codex", "Bash", `{"command":"apply_patch <<'E'\n*** Begin Patch\n*** End Patch\nE","cmd":"ls"}`)); ev.Call.Tool != "Bash" {
		t.Error("a patch beside a command")
	}
}

// What a harness's environment and command line say about a person.
func TestHeadless(t *testing.T) {
	lines := func(words ...string) func() [][]string {
		return func() [][]string { return [][]string{{"sh", "-c", "cardea"}, words} }
	}
	for _, c := range []struct {
		name  string
		lines func() [][]string
		want  bool
	}{
		{"gemini-cli", lines("node", "/usr/bin/gemini", "-p", "x"), true},
		{"gemini-cli", lines("/usr/bin/gemini", "--prompt=x"), true},
		{"gemini-cli", lines("node", "/usr/bin/gemini"), false},
		{"gemini-cli", lines("node", "server.js", "-p"), false},
		{"gemini-cli", nil, false},
		{"gemini-cli piped", lines("node", "/usr/bin/gemini"), true},
		{"gemini-cli piped", lines("gemini", "--experimental-acp"), false},
		{"factory-droid", lines("/opt/droid", "exec", "x"), true},
		{"factory-droid", lines("/opt/droid"), false},
		{"codex", lines("codex", "exec"), false},
	} {
		name, isPiped := strings.CutSuffix(c.name, " piped")
		piped := func(n int) bool { return isPiped && n == 1 }
		if got := dialect.Find(name).Headless(c.lines, piped); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if a := dialect.Find("droid").Attendance(func(k string) string { return map[string]string{"FACTORY_EXEC_TARGET_AUTONOMY": "low"}[k] }); a != cardea.NobodyAttends {
		t.Error("droid exec is attended")
	}
	m, err := harness.Hook{Harness: "gemini", Env: none, Lines: lines("gemini", "-p", "x"), Adapters: everyone()}.Open([]byte(before("gemini-cli", "run_shell_command", `{"command":"ls"}`)))
	if err != nil || m.Event.Attended() {
		t.Errorf("%v: gemini -p is attended", err)
	}
}
