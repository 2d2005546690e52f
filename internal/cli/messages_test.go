package cli

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// answered returns what a harness does after a message: "held" if the call is denied or
// asked about, "allow" if it is allowed, "" if the harness continues on its own.
func (d *fixture) answered(message, harness string) string {
	switch out, _, code := d.run(message, hookArgs(harness)...); {
	case code == exitDeny, strings.Contains(out, `"deny"`), strings.Contains(out, `"ask"`), strings.Contains(out, `"cancel":true`):
		return "held"
	case strings.Contains(out, `"allow"`):
		return "allow"
	}
	return ""
}

func hookArgs(harness string) []string {
	if harness == "" {
		return []string{"check"}
	}
	return []string{"check", "--harness", harness}
}

// The setting default applies to a message without its call's input, from every harness.
func TestMessagesWithoutInput(t *testing.T) {
	d := newFixture(t)
	d.settings("default: {attended: deny, unattended: deny}")
	for _, c := range []struct {
		message string
		passes  bool
	}{
		{`{}`, false}, {"\ufeff{}", false}, {`{"tool_name":"Bash"}`, false}, {`{"toolName":"bash"}`, false}, {`{"tool_input":{}}`, false},
		{`{"tool_name":"Bash","tool_input":null}`, false}, {`{"hook_event_name":"PreToolUse"}`, false}, {`{"status":"idle"}`, false},
		{`{"hook_event_name":"PreToolUse","tool_name":"Bash"}`, false}, {`[]`, false}, {``, false},
		{`{"hook_event_name":"Notification","message":"x"}`, true}, {`{"hook_event_name":"SessionStart"}`, true},
	} {
		for _, harness := range []string{"", "claude-code", "copilot-cli", "cursor", "codex", "gemini-cli", "pi", "cline", "kiro"} {
			if got := d.answered(c.message, harness); (got == "held") == c.passes {
				t.Errorf("%s at %q: %q", c.message, harness, got)
			}
		}
	}
	plain := newFixture(t)
	for _, message := range []string{`{}`, `{"tool_name":"Bash"}`, `{"toolName":"bash"}`} {
		if got := plain.answered(message, "claude-code") + plain.answered(message, ""); got != "" {
			t.Errorf("without a default %s is %s", message, got)
		}
	}
}

// A byte order mark in front of a message changes nothing.
func TestByteOrderMarks(t *testing.T) {
	d := newFixture(t)
	for command, want := range map[string]string{"git push --force": "held", "rm -rf /": "held", "ls": "allow"} {
		call := d.call("PreToolUse", "default", command)
		wide := func(order binary.AppendByteOrder) string {
			out := []byte{}
			for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(call))...) {
				out = order.AppendUint16(out, u)
			}
			return string(out)
		}
		for name, message := range map[string]string{"UTF-8": "\ufeff" + call, "UTF-16LE": wide(binary.LittleEndian), "UTF-16BE": wide(binary.BigEndian)} {
			if got := d.answered(message, "claude-code"); got != want {
				t.Errorf("%s in %s: %q, want %q", command, name, got, want)
			}
		}
	}
}

// A call is judged at every place in a message, and so is each of several inputs.
func TestInputsBesideTheInput(t *testing.T) {
	d := newFixture(t)
	text := func(v any) string { return marshalled(v) }
	claude := func(rest string) string {
		return fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"/t","cwd":%s,"permission_mode":"default",%s}`, text(d.project), rest)
	}
	const ls, force = `{"command":"ls"}`, `{"command":"git push --force"}`
	for _, c := range []struct{ message, want string }{
		{`{"toolArgs":` + text(force) + `}`, "held"},
		{`{"tool_args":` + text(force) + `}`, "held"},
		{`{"function":{"name":"bash","arguments":` + text(force) + `}}`, "held"},
		{`{"arguments":` + text("["+force+"]") + `}`, "held"},
		{`{"toolArgs":` + text(`{"x":`+text(force)+`}`) + `}`, "held"},
		{`{"tool_input":` + text(force) + `}`, "held"},
		{`{"toolArgs":` + text(ls) + `}`, ""},
		{claude(`"tool_name":"Bash","tool_input":` + ls), "allow"},
		{claude(`"tool_name":"Bash","tool_input":` + ls + `,"tool_input":` + force), "held"},
		{claude(`"tool_name":"Bash","tool_input":` + force + `,"tool_input":` + ls), "held"},
		{claude(`"tool_name":"Bash","tool_input":` + ls + `,"Tool_Input":` + force), "held"},
		{claude(`"tool_name":"Bash","tool_input":` + ls + `,"toolInput":` + force), "held"},
		{claude(`"tool_name":"Bash","tool_input":` + ls + `,"toolArgs":` + text(force)), "held"},
		{claude(`"tool_name":"Bash","tool_input":` + ls + `,"command":"git push --force"`), "held"},
		{claude(`"tool_name":"Bash","tool_input":` + ls + `,"tool_input":` + ls), ""},
		{claude(`"tool_name":"Bash","tool_input":{"command":"ls","cmd":"git push --force"}`), "held"},
		{claude(`"tool_name":"Bash","tool_input":{"cmd":"git push --force","command":"ls"}`), "held"},
		{claude(`"tool_name":"Bash","tool_input":{"command":"ls","shell_command":"git push --force"}`), "held"},
		{claude(`"tool_name":"Bash","tool_input":{"command":"ls","commands":["ls","git push --force"]}`), "held"},
		{claude(`"tool_name":"Bash","tool_input":{"command":"ls","argv":["git","push","--force"]}`), "held"},
		{claude(`"tool_name":"Bash","tool_input":{"command":"ls","script":["ls"]}`), ""},
		{claude(`"tool_name":"Bash","tool_input":{"command":"ls","description":"git push --force"}`), "allow"},
		{claude(`"tool_name":"Bash","tool_input":` + text(force)), "held"},
		{claude(`"tool_name":"Read","tool_name":"Bash","tool_input":` + force), "held"},
		{claude(`"tool_name":"Read","tool_input":{"file_path":"a"},"tool_input":{"file_path":"~/.ssh/id_rsa"}`), "held"},
		{claude(`"tool_name":"Read","tool_input":{"file_path":"a","path":"~/.ssh/id_rsa"}`), "held"},
		{claude(`"tool_name":"Write","tool_input":{"file_path":"a","content":"x","filePath":"~/.bashrc"}`), "held"},
	} {
		if !json.Valid([]byte(c.message)) {
			t.Fatal(c.message)
		}
		for _, harness := range []string{"", "claude-code"} {
			if got := d.answered(c.message, harness); got != c.want {
				t.Errorf("%s at %q: %q, want %q", c.message, harness, got, c.want)
			}
		}
	}
	for _, harness := range []string{"cursor", "codex", "kiro", "gemini-cli", "opencode"} {
		if got := d.answered(`{"toolArgs":`+text(force)+`}`, harness); got != "held" {
			t.Errorf("an input under another key at %s: %q", harness, got)
		}
	}
}

// Cursor's messages are recognized without its version.
func TestCursorWithoutVersion(t *testing.T) {
	d := newFixture(t)
	for _, message := range []string{
		`{"hook_event_name":"beforeShellExecution","command":"git push --force","cwd":"/p"}`,
		`{"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"git push --force"},"cwd":"/p"}`,
		`{"hook_event_name":"preToolUse","conversation_id":"c","tool_name":"x","tool_input":{"command":"git push --force"}}`,
		`{"hook_event_name":"beforeMCPExecution","generation_id":"g","tool_name":"x","tool_input":"{\"command\":\"git push --force\"}"}`,
		`{"hook_event_name":"beforeReadFile","file_path":"/p/.ssh/id_rsa","workspace_roots":["/p"]}`,
	} {
		for _, harness := range []string{"cursor", ""} {
			if out, _, code := d.run(message, hookArgs(harness)...); code != exitOK || !strings.Contains(out, `"permission":"`) ||
				strings.Contains(out, `"allow"`) {
				t.Errorf("%s at %q: exit %d, %s", message, harness, code, out)
			}
		}
	}
	if out, _, code := d.run(`{"hook_event_name":"beforeShellExecution","command":"ls","cwd":`+marshalled(d.project)+`}`, "check", "--harness", "cursor"); code != exitOK ||
		!strings.Contains(out, `"allow"`) {
		t.Errorf("ls: exit %d, %s", code, out)
	}
	if _, _, code := d.run(`{"hook_event_name":"preToolUse","tool_name":"execute_bash","tool_input":{"command":"git push --force"}}`, "check"); code != exitDeny {
		t.Errorf("Kiro's message ends with %d", code)
	}
}

// In a mode without prompts, a question about an irreversible call denies it, unless the
// surface is known to ask.
func TestQuestionsByTheSurface(t *testing.T) {
	final := []string{
		"git reset --hard",
		"git clean -fd",
		"git checkout -- .",
		"git restore .",
		"git branch -D x",
		"git stash drop",
		"git push --delete origin x",
		"git push origin v1.0",
		"rm -rf .git/index",
		"rm -rf ./*",
		"rm -rf /opt/data",
		"docker system prune -af",
		"crontab -r",
		"redis-cli flushall",
	}
	others := []string{"chmod 777 x", "apt-get remove -y x"}
	at := func(d *fixture, surface, attended, mode string) {
		d.vars["CLAUDE_CODE_ENTRYPOINT"], d.vars["CLAUDE_CODE_SESSION_ATTENDED"] = surface, attended
		for _, command := range append(append([]string{"git push --force", "ls", "npm test"}, final...), others...) {
			want := "ask"
			shown := surface == "cli" && attended == "1" || mode == "default" && attended != "0" || mode == "acceptEdits" && attended != "0"
			switch {
			case command == "ls":
				want = "allow"
			case command == "npm test":
				want = ""
			case command == "git push --force" || !shown && !slices.Contains(others, command):
				want = "deny"
			}
			out, _, _ := d.run(d.call("PreToolUse", mode, command), "check", "--harness", "claude-code")
			var answer struct {
				Hook struct{ PermissionDecision, PermissionDecisionReason string } `json:"hookSpecificOutput"`
			}
			_ = json.Unmarshal([]byte(out), &answer)
			if got := answer.Hook.PermissionDecision; got != want {
				t.Errorf("%s in %s, attended %q, mode %s: %q, want %q (%s)", command, surface, attended, mode, got, want, answer.Hook.PermissionDecisionReason)
			}
		}
	}
	d := newFixture(t)
	for _, mode := range []string{"default", "acceptEdits", "auto", "bypassPermissions", "yolo"} {
		for _, surface := range []string{"claude-vscode", "claude-desktop", "sdk-ts"} {
			at(d, surface, "1", mode)
		}
		at(d, "cli", "1", mode)
		at(d, "cli", "0", mode)
		at(d, "claude-vscode", "", mode)
	}
}
