package harness

import (
	"encoding/json"
	"strings"
)

// Sender names the harness that sent a payload, "" where no rule knows it. It
// knows harnesses that have no adapter too, so that the person learns whose
// message reached the wrong hook.
//
// The order of the rules matters. They find hooks that are installed for another
// harness; what a call is allowed never depends on them. Environment variables
// are inherited, by an agent started from another one's terminal and from a
// project's settings. So they count only where the message itself does not carry
// Claude Code's marks, and where no sender has other marks.
func Sender(p *Payload, env func(string) string) string {
	for _, s := range senders {
		if s.sent(p, env) {
			return s.harness
		}
	}
	return ""
}

// Detect names the sender of a payload and finds its adapter, nil where there
// is none. Adapters that the table of senders does not know are asked last.
func Detect(p *Payload, env func(string) string, adapters []Adapter) (string, Adapter) {
	if name := Sender(p, env); name != "" {
		return name, byName(adapters, name)
	}
	for _, a := range adapters {
		if a.Detect(p, env) {
			return a.Name(), a
		}
	}
	return "", nil
}

// harnessWords are what people call harnesses, mostly by their commands.
var harnessWords = map[string]string{
	"claude": "claude-code", "copilot": "copilot-cli", "github-copilot": "copilot-cli", "codex-cli": "codex", "gemini": "gemini-cli",
	"qwen": "qwen-code", "droid": "factory-droid", "grok": "grok-build", "kimi": "kimi-code", "windsurf": "windsurf-cascade",
	"antigravity": "antigravity-cli", "hermes": "hermes-agent",
}

// Canonical is the name of a harness for a word that people use for it: a word that
// stands for none stays as it is.
func Canonical(word string) string {
	word = strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(word))
	if name, ok := harnessWords[word]; ok {
		return name
	}
	return word
}

func byName(adapters []Adapter, name string) Adapter {
	name = Canonical(name)
	for _, a := range adapters {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// senders are the rules in the order in which they are tried: the particular ones
// before the general ones. Some count an environment variable where the message has
// no marks of Claude Code or Copilot CLI, so a new harness stands in front of
// cursor, the first of them.
var senders = [...]struct {
	harness string
	sent    func(p *Payload, env func(string) string) bool
}{
	{"windsurf-cascade", func(p *Payload, _ func(string) string) bool { return p.Has("agent_action_name") }},
	{"cursor", func(p *Payload, env func(string) string) bool {
		return p.Has("cursor_version") || env("CURSOR_VERSION") != "" && !claudeMarks(p) && !sentElsewhere(p)
	}},
	{"cline", func(p *Payload, _ func(string) string) bool {
		return p.Has("hookName") && p.Has("clineVersion")
	}},
	{"antigravity-cli", func(p *Payload, _ func(string) string) bool {
		return isObject(p, "toolCall") && p.Has("conversationId")
	}},
	{"grok-build", func(p *Payload, env func(string) string) bool {
		return isSnake(p.Text("hookEventName")) && p.Has("workspaceRoot") ||
			env("GROK_HOOK_EVENT") != "" && !claudeMarks(p) && !sentElsewhere(p)
	}},
	{"copilot-cli", func(p *Payload, _ func(string) string) bool { return copilotCamel(p) || copilotPascal(p) }},
	{"vscode", func(p *Payload, _ func(string) string) bool {
		return isPascal(p.Text("hookEventName")) && p.Has("sessionId") && p.Has("transcript_path")
	}},
	{"gemini-cli", func(p *Payload, _ func(string) string) bool {
		switch p.Text("hook_event_name") {
		case "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel",
			"BeforeToolSelection", "PreCompress":
			return true
		}
		return false
	}},
	{"codex", func(p *Payload, _ func(string) string) bool {
		return p.Has("hook_event_name") && p.Has("turn_id") && p.Has("model")
	}},
	{"qwen-code", func(p *Payload, env func(string) string) bool {
		return env("QWEN_PROJECT_DIR") != "" && isPascal(p.Text("hook_event_name")) && p.Text("timestamp") != "" &&
			p.Has("transcript_path")
	}},
	{"factory-droid", func(p *Payload, env func(string) string) bool {
		mode := p.Text("permission_mode")
		return mode == "off" || mode == "spec" || strings.HasPrefix(mode, "auto-") ||
			(env("DROID_PROJECT_DIR") != "" || env("FACTORY_PROJECT_DIR") != "") && !claudeMarks(p) && !sentElsewhere(p)
	}},
	{"kimi-code", func(p *Payload, _ func(string) string) bool { return p.Text("client_type") == "kimi_code_cli" }},
	{"crush", func(p *Payload, _ func(string) string) bool {
		return p.Has("event") && p.Has("tool_name") && !p.Has("hook_event_name")
	}},
	{"kiro", func(p *Payload, _ func(string) string) bool {
		name := p.Text("hook_event_name")
		return isCamel(name) || isPascal(name) && !p.Has("transcript_path") && kiroTool(p.Text("tool_name"))
	}},
	{"hermes-agent", func(p *Payload, _ func(string) string) bool { return p.Text("hook_event_name") == "pre_tool_call" }},
	// Older Claude Code sends no tool_use_id, and PermissionRequest never
	// has one.
	{"claude-code", func(p *Payload, env func(string) string) bool {
		return isPascal(p.Text("hook_event_name")) && p.Text("transcript_path") != "" && !p.Has("timestamp")
	}},
}

// copilotCamel: the camelCase messages of Copilot CLI have a numeric
// timestamp; the messages about no tool carry no name of their event.
func copilotCamel(p *Payload) bool {
	ts, _ := p.Get("timestamp")
	_, number := ts.(json.Number)
	return number && p.Text("sessionId") != "" && !p.Has("hookEventName") && !p.Has("workspaceRoot")
}

// copilotPascal: the messages that it sends to hooks registered under
// PascalCase names, Claude Code's own files among them.
func copilotPascal(p *Payload) bool {
	return isPascal(p.Text("hook_event_name")) && p.Text("timestamp") != "" && p.Has("session_id") &&
		!p.Has("transcript_path") && !p.Has("permission_mode") && !p.Has("hookEventName")
}

// claudeMarks reports the marks that Claude Code's messages have, and that
// nobody else is known to send without marks of their own.
func claudeMarks(p *Payload) bool {
	return isPascal(p.Text("hook_event_name")) && p.Text("transcript_path") != "" && !p.Has("timestamp") &&
		(p.Has("tool_use_id") || p.Has("prompt_id") || p.Text("hook_event_name") == "PermissionRequest")
}

// sentElsewhere reports the marks that need no environment.
func sentElsewhere(p *Payload) bool { return copilotCamel(p) || copilotPascal(p) }

func kiroTool(name string) bool {
	return name == "shell" || name == "execute_bash" || name == "use_aws" ||
		strings.HasPrefix(name, "fs_") || strings.HasPrefix(name, "@")
}

func isObject(p *Payload, key string) bool {
	v, _ := p.Get(key)
	_, ok := v.(*Object)
	return ok
}

func isPascal(s string) bool {
	return s != "" && 'A' <= s[0] && s[0] <= 'Z' && !strings.Contains(s, "_")
}

func isCamel(s string) bool {
	return s != "" && 'a' <= s[0] && s[0] <= 'z' && !strings.Contains(s, "_")
}

func isSnake(s string) bool { return strings.Contains(s, "_") && strings.ToLower(s) == s }
