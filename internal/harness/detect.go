package harness

import (
	"encoding/json"
	"slices"
	"strings"
)

// Sender returns the name of the harness that sent a payload, "" if no rule matches. It also knows
// harnesses without an adapter, so that the person learns whose message reached the wrong hook.
//
// The rules find hooks that are installed for another harness; permissions never depend on them.
// The message takes precedence over the environment, which may be inherited: by an agent started
// from another one's terminal, and from a project's settings.
func Sender(p *Payload, env func(string) string) string {
	for _, s := range senders {
		if s.sent(p) {
			return s.harness
		}
	}
	for _, s := range inherited {
		if env(s.variable) != "" {
			return s.harness
		}
	}
	if likeClaude(p) {
		return "claude-code"
	}
	return ""
}

// Detect returns the sender of a payload and its adapter, nil for a sender without one. Adapters
// that are not in the table of senders are asked last.
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

// harnessWords are common words for harnesses, mostly their commands. They are few, and a map would
// be filled before main at every call.
var harnessWords = [...]struct{ word, harness string }{
	{"claude", "claude-code"}, {"copilot", "copilot-cli"}, {"github-copilot", "copilot-cli"}, {"codex-cli", "codex"}, {"gemini", "gemini-cli"},
	{"qwen", "qwen-code"}, {"droid", "factory-droid"}, {"grok", "grok-build"}, {"kimi", "kimi-code"}, {"windsurf", "windsurf-cascade"},
	{"antigravity", "antigravity-cli"}, {"hermes", "hermes-agent"}, {"devin", "devin-cli"}, {"vs-code", "vscode"}, {"auggie", "augment"}, {"qwen-cli", "qwen-code"},
}

// Canonical returns the name of the harness for a common word. Any other word stays as it is.
func Canonical(word string) string {
	word = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(word), "_", "-"), " ", "-")
	for _, w := range harnessWords {
		if w.word == word {
			return w.harness
		}
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

// senders are the rules in the order in which they are tried: special ones before general ones.
// They were checked against messages of the real programs (docs/harnesses.md).
var senders = [...]struct {
	harness string
	sent    func(p *Payload) bool
}{
	{"windsurf-cascade", func(p *Payload) bool { return p.Has("agent_action_name") }},
	{"cursor", sentByCursor},
	{"cline", func(p *Payload) bool { return p.Has("hookName") && p.Has("clineVersion") }},
	{"antigravity-cli", func(p *Payload) bool { return isObject(p, "toolCall") && p.Has("conversationId") }},
	{"grok-build", func(p *Payload) bool { return isSnake(p.Text("hookEventName")) && p.Has("workspaceRoot") }},
	{"amp", func(p *Payload) bool { return p.Has("toolUseID") && p.Has("thread") }},
	{"opencode", sentByOpenCode},
	{"pi", sentByPi},
	{"copilot-cli", func(p *Payload) bool { return copilotCamel(p) || copilotPascal(p) }},
	{"vscode", func(p *Payload) bool {
		return isPascal(p.Text("hookEventName")) && p.Has("sessionId") && p.Has("transcript_path")
	}},
	{"gemini-cli", sentByGemini},
	{"codex", func(p *Payload) bool {
		return p.Has("hook_event_name") && (p.Has("turn_id") && p.Has("model") || strings.HasPrefix(base(p.Text("transcript_path")), "rollout"))
	}},
	{"qwen-code", func(p *Payload) bool {
		return isPascal(p.Text("hook_event_name")) && p.Text("timestamp") != "" && p.Has("transcript_path") && p.Has("permission_mode")
	}},
	{"factory-droid", func(p *Payload) bool { return slices.Contains(droidModes, p.Text("permission_mode")) }},
	{"kimi-code", func(p *Payload) bool { return p.Text("client_type") == "kimi_code_cli" }},
	{"goose", func(p *Payload) bool {
		return p.Has("event") && p.Has("working_dir") && p.Has("session_id") && !p.Has("hook_event_name")
	}},
	{"crush", func(p *Payload) bool {
		return p.Has("event") && p.Has("tool_name") && !p.Has("hook_event_name")
	}},
	{"augment", func(p *Payload) bool {
		return p.Has("hook_event_name") && slices.Contains(augmentTools, p.Text("tool_name"))
	}},
	{"kiro", func(p *Payload) bool {
		name := p.Text("hook_event_name")
		return isCamel(name) || isPascal(name) && !p.Has("transcript_path") && kiroTool(p.Text("tool_name"))
	}},
	{"hermes-agent", func(p *Payload) bool {
		return slices.Contains([]string{"pre_tool_call", "post_tool_call", "pre_approval_request", "post_approval_response"}, p.Text("hook_event_name"))
	}},
	{"devin-cli", func(p *Payload) bool {
		return isPascal(p.Text("hook_event_name")) && !p.Has("transcript_path") && p.Text("tool_name") == "exec"
	}},
	{"claude-code", claudeMarks},
}

// droidModes are the permission modes that only Droid has.
var droidModes = []string{"off", "spec", "auto-low", "auto-medium", "auto-high"}

// inherited are variables that decide if the message itself does not.
var inherited = [...]struct{ harness, variable string }{
	{"cursor", "CURSOR_VERSION"},
	{"grok-build", "GROK_HOOK_EVENT"},
	{"factory-droid", "DROID_PROJECT_DIR"},
	{"factory-droid", "FACTORY_PROJECT_DIR"},
}

// sentByCursor reports whether a message has Cursor's version, or an event that only Cursor has.
// For events that Cursor shares with Kiro, it requires Cursor's ids or names of tools.
func sentByCursor(p *Payload) bool {
	name := p.Text("hook_event_name")
	return p.Has("cursor_version") || isCamel(name) && (strings.HasPrefix(name, "before") || strings.HasPrefix(name, "after") ||
		p.Has("conversation_id") || p.Has("generation_id") || p.Has("workspace_roots") || isPascal(p.Text("tool_name")))
}

// sentByOpenCode: the input of OpenCode's plugins, in either generation.
func sentByOpenCode(p *Payload) bool {
	return p.Holds("input.sessionID") || p.Holds("properties.sessionID") || p.Holds("data.sessionID") ||
		strings.HasPrefix(p.Text("sessionID"), "ses_")
}

// sentByPi reports whether a message is the input of pi's extensions.
func sentByPi(p *Payload) bool {
	switch p.Text("type") {
	case "tool_call", "tool_result":
		return p.Has("toolCallId")
	case "session_start", "session_shutdown", "input", "before_agent_start", "agent_end":
		return !p.Has("hook_event_name")
	}
	return false
}

// sentByGemini reports whether a message has an event that only Gemini CLI has, or a shared event
// with a time and without a permission mode.
func sentByGemini(p *Payload) bool {
	switch p.Text("hook_event_name") {
	case "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress":
		return true
	case "SessionStart", "SessionEnd", "Notification":
		return p.Text("timestamp") != "" && p.Has("transcript_path") && !p.Has("permission_mode")
	}
	return false
}

// copilotCamel reports whether a message has Copilot CLI's camelCase form, with a numeric
// timestamp. Messages that are not about a tool do not name their event.
func copilotCamel(p *Payload) bool {
	ts, _ := p.Get("timestamp")
	_, number := ts.(json.Number)
	return number && p.Text("sessionId") != "" && !p.Has("hookEventName") && !p.Has("workspaceRoot")
}

// copilotPascal reports whether a message has Copilot CLI's form for hooks that are registered
// under PascalCase names, such as those in Claude Code's own files. Messages about the end of a
// turn name a transcript.
func copilotPascal(p *Payload) bool {
	name := p.Text("hook_event_name")
	if !isPascal(name) || p.Text("timestamp") == "" || !p.Has("session_id") || p.Has("permission_mode") || p.Has("hookEventName") {
		return false
	}
	switch name {
	case "Stop", "SubagentStop", "SubagentStart", "PreCompact":
		return true
	}
	return !p.Has("transcript_path")
}

// claudeMarks reports whether a message has the marks of Claude Code. No other harness is known to
// send them without marks of its own.
func claudeMarks(p *Payload) bool {
	return likeClaude(p) &&
		(p.Has("tool_use_id") || p.Has("prompt_id") || p.Text("hook_event_name") == "PermissionRequest")
}

// likeClaude reports whether a message has the form of Claude Code's messages. Older versions send
// no tool_use_id, and PermissionRequest never has one.
func likeClaude(p *Payload) bool {
	return isPascal(p.Text("hook_event_name")) && p.Text("transcript_path") != "" && !p.Has("timestamp")
}

func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// augmentTools are names of tools that only Augment has.
var augmentTools = []string{"launch-process", "str-replace-editor", "save-file", "remove-files"}

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
