package install

import (
	"runtime"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
)

// Harnesses returns the harnesses that Cardea supports. Files, events and keys follow the
// vendors' hook references, which docs/harnesses names. The behavior of a failing hook was
// tested on the versions in Seen.
func Harnesses() []Harness {
	all := []Harness{claudeCode(), copilotCLI(), codexCLI(), geminiCLI(), qwenCode(), openCode(), droid(), cline(), pi(), cursor(), vscode(), windsurf(), crush()}
	for i := range all {
		all[i].gates = slices.Clone(all[i].events)
	}
	return all
}

// unsupported maps other harnesses to the reason why there is no installer.
var unsupported = map[string]string{
	"continue": "it reads hooks and never starts them (seen with Continue 1.5.47), so a hook there would guard nothing; see docs/harnesses/continue.md",
	"kiro":     "its hooks belong to the agent that is in use; docs/harnesses/kiro.md has the file to write by hand",
	"amp":      "it has plugins in place of hooks, and nobody has tried one; see docs/harnesses/amp.md",
	"augment":  "docs/harnesses/augment.md has the files to write by hand, which nobody has tried",
}

// These make a hook's line deny if its program is missing or fails: exit code 2 denies
// nearly everywhere. Some harnesses require a reason, and treat the exit code as a failed
// hook without one. Most start sh or bash. Codex CLI starts the user's own shell, and fish
// abandons a line at a missing program; so the line runs in its own sh there.
const (
	shutMute    = " || exit 2"
	shutSaying  = " || sh -c '" + sayingShut + "'"
	shutInside  = " || { " + sayingShut + "; }"
	shutWrapped = "sh -c"
	sayingShut  = `echo "Cardea could not judge this call, so it is denied; run cardea doctor" >&2; exit 2`
)

// settingsForm returns the form of Claude Code's settings, which most harnesses adopted.
func settingsForm() form {
	return form{grouped: true, matcher: "*", typed: true, command: "command", timeout: "timeout", unit: time.Second, usual: 600 * time.Second}
}

// flatForm returns the form of a list of handlers under each event.
func flatForm() form {
	return form{command: "command", timeout: "timeout", unit: time.Second, usual: 60 * time.Second}
}

// inSettings returns the files of a harness with hooks in settings.json.
func inSettings(own, variable string, machine map[string]string) folders {
	f := folders{own: own, variable: variable, machine: machine, user: "settings.json", project: own + "/settings.json"}
	if machine != nil {
		f.managed = "settings.json"
		f.reads = append(f.reads, read{Managed, "settings.json"})
	}
	f.reads = append(f.reads, read{local, own + "/settings.local.json"}, read{Project, f.project}, read{User, f.user})
	return f
}

func sameKind(event string) cardea.Kind { return cardea.Kind(event) }

func kindsOf(other map[string]cardea.Kind) func(string) cardea.Kind {
	return func(event string) cardea.Kind {
		if k, ok := other[event]; ok {
			return k
		}
		return cardea.Kind(event)
	}
}

// claudeCode returns Claude Code (hooks reference, "Hook events"), without WorktreeCreate
// and WorktreeRemove. A hook for them must create and remove the worktree.
func claudeCode() Harness {
	return Harness{Name: claudecode.Name, Title: "Claude Code", Program: "claude", Seen: "2.1.332", events: []string{"PreToolUse", "PermissionRequest"},
		prompts: []string{"UserPromptSubmit", "UserPromptExpansion"}, Late: []string{"PreSkillShellCommand"}, lateSince: []int{2, 1, 332}, reviews: []string{"PermissionDenied"},
		more: []string{"SessionStart", "PostToolUse", "PostToolUseFailure", "Notification", "SubagentStart", "SubagentStop", "Stop", "PreCompact", "SessionEnd",
			"Setup", "PostToolBatch", "MessageDisplay", "TaskCreated", "TaskCompleted", "StopFailure", "TeammateIdle", "InstructionsLoaded", "ConfigChange",
			"CwdChanged", "FileChanged", "DirectoryAdded", "PostCompact", "PreModelSwitch", "PostModelSwitch", "Elicitation", "ElicitationResult"},
		newer: []string{"UserPromptExpansion", "Setup", "PermissionDenied", "PostToolBatch", "MessageDisplay", "TaskCreated", "TaskCompleted", "StopFailure", "TeammateIdle",
			"InstructionsLoaded", "ConfigChange", "CwdChanged", "FileChanged", "DirectoryAdded", "PostCompact", "PreModelSwitch", "PostModelSwitch", "Elicitation", "ElicitationResult"},
		since: []int{2, 1, 101}, posts: true, kind: sameKind, form: settingsForm(),
		folders: folders{own: ".claude", variable: "CLAUDE_CONFIG_DIR", user: "settings.json", project: ".claude/settings.json", managed: "managed-settings.d/50-cardea.json",
			reads: []read{{Managed, "managed-settings.json"}, {Managed, "managed-settings.d/*.json"}, {local, ".claude/settings.local.json"}, {Project, ".claude/settings.json"}, {User, "settings.json"}}},
		probe:   likeClaude("Bash"),
		failing: failing{switchKey: "onFailure", switchValue: "block", switchSince: []int{2, 1, 295}, shut: shutMute}}
}

// copilotCLI returns Copilot CLI (hooks reference, "Hook events" and "Policy").
func copilotCLI() Harness {
	return Harness{Name: copilotcli.Name, Title: "Copilot CLI", Program: "copilot", Seen: "1.0.102", events: []string{"preToolUse", "permissionRequest"},
		prompts: []string{"userPromptSubmitted"},
		more: []string{"sessionStart", "postToolUse", "postToolUseFailure", "notification", "subagentStart", "subagentStop", "agentStop", "preCompact", "errorOccurred",
			"sessionEnd", "userPromptTransformed"},
		newer: []string{"userPromptTransformed"}, since: []int{1, 0, 71}, kind: copilotcli.Kind,
		form: form{typed: true, command: copilotShell(), timeout: "timeoutSec", unit: time.Second, usual: 30 * time.Second, ownFile: true, version: 1},
		folders: folders{own: ".copilot", variable: "COPILOT_HOME", machine: map[string]string{"linux": "/etc/github-copilot/policy.d", "windows": `C:\ProgramData\GitHub\Copilot\policy.d`},
			user: "hooks/cardea.json", project: ".github/hooks/cardea.json", managed: "cardea.json",
			reads: []read{{Managed, "*.json"}, {Project, ".github/copilot/settings.local.json"}, {Project, ".github/copilot/settings.json"}, {Project, ".github/hooks/*.json"},
				{User, "settings.json"}, {User, "hooks/*.json"}}},
		probe: probe{tool: "bash", message: func(h Harness, tool, dir string) map[string]any {
			return map[string]any{"cwd": dir, "timestamp": 0, "agentType": ProbeAgent, "toolName": tool, "hookName": h.Gate(), "toolArgs": mustDeny()}
		}, denied: []string{"permissionDecision"}},
		failing: failing{left: "blocks a call if its hook fails, but not if the hook takes too long"}}
}

// codexCLI returns Codex CLI (hooks reference). It silently skips a hook that the user has
// not trusted.
func codexCLI() Harness {
	return Harness{Name: "codex", Title: "Codex CLI", Program: "codex", Seen: "0.171.0", events: []string{"PreToolUse", "PermissionRequest"}, prompts: []string{"UserPromptSubmit"},
		more: []string{"SessionStart", "PostToolUse", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"}, kind: sameKind, form: settingsForm(),
		folders: folders{own: ".codex", variable: "CODEX_HOME", machine: map[string]string{"linux": "/etc/codex"}, user: "hooks.json", project: ".codex/hooks.json", reads: []read{{Project, ".codex/hooks.json"}, {User, "hooks.json"}}},
		probe:   likeClaude("Bash"), failing: failing{shut: shutWrapped},
		Trust: "start codex in a terminal and choose \"Trust all and continue\" (later: /hooks), since Codex skips a hook that you did not trust without a word", trusted: codexTrusts}
}

// geminiCLI returns Gemini CLI (hooks reference). BeforeModel, AfterModel and
// BeforeToolSelection occur with every request to the model, and nothing is decided there.
func geminiCLI() Harness {
	h := Harness{Name: "gemini-cli", Title: "Gemini CLI", Program: "gemini", Seen: "0.61.0", events: []string{"BeforeTool"}, prompts: []string{"BeforeAgent"},
		more: []string{"SessionStart", "SessionEnd", "AfterTool", "AfterAgent", "PreCompress", "Notification"},
		kind: kindsOf(map[string]cardea.Kind{"BeforeTool": "PreToolUse", "AfterTool": "PostToolUse", "BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop", "PreCompress": "PreCompact"}),
		form: settingsForm(),
		folders: inSettings(".gemini", "GEMINI_CLI_HOME", map[string]string{"linux": "/etc/gemini-cli", "darwin": "/Library/Application Support/GeminiCli",
			"windows": `C:\ProgramData\gemini-cli`}),
		probe: likeClaude("run_shell_command"), failing: failing{shut: shutSaying}}
	h.unit, h.usual, h.extra, h.below = time.Millisecond, time.Minute, []jsonedit.Field{{Key: "name", Value: "cardea"}}, ".gemini"
	h.denied = []string{"decision"}
	return h
}

// qwenCode returns Qwen Code (hooks page). Newer versions read a limit below 1000 as
// seconds and others as milliseconds; older versions read milliseconds. So milliseconds
// work for both.
func qwenCode() Harness {
	h := Harness{Name: "qwen-code", Title: "Qwen Code", Program: "qwen", Seen: "0.24.4", events: []string{"PreToolUse", "PermissionRequest"}, prompts: []string{"UserPromptSubmit"},
		reviews: []string{"PermissionDenied"}, newer: []string{"PermissionDenied"}, since: []int{0, 24, 4},
		more: []string{"SessionStart", "SessionEnd", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop", "Stop", "PreCompact", "Notification"},
		kind: sameKind, form: settingsForm(),
		folders: inSettings(".qwen", "QWEN_HOME", map[string]string{"linux": "/etc/qwen-code", "darwin": "/Library/Application Support/QwenCode", "windows": `C:\ProgramData\qwen-code`}),
		probe:   likeClaude("run_shell_command"), failing: failing{shut: shutSaying}}
	h.unit, h.usual = time.Millisecond, time.Minute
	return h
}

// droid returns Factory's Droid (hooks page). Its hooks are in settings.json, since the
// format of its hooks.json differs between versions.
func droid() Harness {
	h := Harness{Name: harness.Canonical("droid"), Title: "Droid", Program: "droid", Seen: "0.215.0", events: []string{"PreToolUse"}, prompts: []string{"UserPromptSubmit"},
		more: []string{"SessionStart", "SessionEnd", "PostToolUse", "Notification", "SubagentStop", "Stop", "PreCompact"}, kind: sameKind, form: settingsForm(),
		folders: inSettings(".factory", "", nil), probe: likeClaude("Execute"), failing: failing{shut: shutMute}}
	h.usual = time.Minute
	h.reads = append(h.reads, read{Project, ".factory/hooks.json"}, read{User, "hooks.json"})
	return h
}

// openCode returns OpenCode (plugins page), which has plugins in place of hooks.
func openCode() Harness {
	return Harness{Name: "opencode", Title: "OpenCode", Program: "opencode", Seen: "1.18.33", events: []string{"tool.execute.before"}, kind: kindsOf(map[string]cardea.Kind{"tool.execute.before": "PreToolUse"}),
		form:    form{ownFile: true, usual: time.Minute, plugin: &smallProgram{comment: "//", parts: []string{"ask.js", "opencode.js"}}},
		folders: folders{own: ".config/opencode", variable: "XDG_CONFIG_HOME", below: "opencode", user: "plugins/cardea.js", project: ".opencode/plugins/cardea.js"},
		probe: probe{tool: "bash", message: func(h Harness, tool, dir string) map[string]any {
			return map[string]any{"event": h.Gate(), "cwd": dir, "input": map[string]any{"tool": tool}, "output": map[string]any{"args": mustDeny()}}
		}, denied: []string{"decision"}},
		failing: failing{left: "refuses a call if Cardea is missing, fails or takes too long, but lets all run if it cannot load the plugin"}}
}

// pi returns pi (extensions page), which has extensions in place of hooks.
func pi() Harness {
	return Harness{Name: "pi", Title: "pi", Program: "pi", Seen: "1.5.2", events: []string{"tool_call"}, kind: kindsOf(map[string]cardea.Kind{"tool_call": "PreToolUse"}),
		form:    form{ownFile: true, usual: time.Minute, plugin: &smallProgram{comment: "//", parts: []string{"ask.js", "pi.js"}}},
		folders: folders{own: ".pi/agent", variable: "PI_CODING_AGENT_DIR", user: "extensions/cardea.js", project: ".pi/extensions/cardea.js"},
		probe: probe{tool: "bash", message: func(h Harness, tool, dir string) map[string]any {
			return map[string]any{"type": h.Gate(), "cwd": dir, "hasUI": false, "toolName": tool, "input": mustDeny()}
		}, denied: []string{"decision"}},
		failing: failing{left: "refuses a call if Cardea is missing, fails or takes too long, but lets all run if it cannot load the extension"}}
}

// cline returns the CLI of Cline (hooks of the SDK). A hook is a program with the event's
// name.
func cline() Harness {
	return Harness{Name: "cline", Title: "Cline", Program: "cline", Seen: "3.0.65", events: []string{"PreToolUse"}, kind: kindsOf(map[string]cardea.Kind{"TaskStart": "UserPromptSubmit", "TaskComplete": "Stop"}),
		more:    []string{"PostToolUse", "TaskStart", "TaskResume", "TaskComplete", "TaskCancel"},
		form:    form{ownFile: true, usual: time.Minute, plugin: &smallProgram{first: "#!/bin/sh\n", comment: "#", parts: []string{"cline.sh"}, perEvent: true}},
		folders: folders{own: ".cline", variable: "CLINE_DIR", user: "hooks/PreToolUse.sh", project: ".cline/hooks/PreToolUse.sh"},
		probe: probe{tool: "run_commands", message: func(_ Harness, tool, dir string) map[string]any {
			return map[string]any{"hookName": "tool_call", "clineVersion": "", "workspaceRoots": []string{dir}, "tool_call": map[string]any{"name": tool, "input": map[string]any{"commands": []string{deadly}}}}
		}, denied: []string{"cancel"}},
		failing: failing{left: "waits for a hook that takes too long, and the script denies if Cardea is missing or fails"}}
}

// cursor returns Cursor, the editor and cursor-agent (hooks page). One unknown event makes
// it reject the whole file.
func cursor() Harness {
	h := Harness{Name: "cursor", Title: "Cursor", Program: "cursor", events: []string{"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"}, prompts: []string{"beforeSubmitPrompt"},
		more: []string{"sessionStart", "sessionEnd", "postToolUse", "subagentStart", "subagentStop", "preCompact", "stop"},
		kind: kindsOf(map[string]cardea.Kind{"preToolUse": "PreToolUse", "beforeShellExecution": "PreToolUse", "beforeMCPExecution": "PreToolUse", "beforeReadFile": "PreToolUse",
			"beforeSubmitPrompt": "UserPromptSubmit", "sessionStart": "SessionStart", "sessionEnd": "SessionEnd", "postToolUse": "PostToolUse", "subagentStart": "SubagentStart",
			"subagentStop": "SubagentStop", "preCompact": "PreCompact", "stop": "Stop"}),
		form: flatForm(),
		folders: folders{own: ".cursor", machine: map[string]string{"linux": "/etc/cursor", "darwin": "/Library/Application Support/Cursor", "windows": `C:\ProgramData\Cursor`},
			user: "hooks.json", project: ".cursor/hooks.json", managed: "hooks.json", reads: []read{{Managed, "hooks.json"}, {Project, ".cursor/hooks.json"}, {User, "hooks.json"}}},
		probe: probe{tool: "Shell", message: func(h Harness, tool, dir string) map[string]any {
			return map[string]any{"cursor_version": "", "cwd": dir, "hook_event_name": h.Gate(), "tool_name": tool, "tool_input": mustDeny()}
		}, denied: []string{"permission"}},
		failing: failing{left: "blocks a call if its hook fails (failClosed), as its vendor documents; nobody has tried it"}}
	h.version, h.extra = 1, []jsonedit.Field{{Key: "failClosed", Value: true}}
	return h
}

// vscode returns the agent of VS Code (agent hooks, preview).
func vscode() Harness {
	h := Harness{Name: "vscode", Title: "VS Code", Program: "code", events: []string{"PreToolUse"}, prompts: []string{"UserPromptSubmit"},
		more: []string{"SessionStart", "PostToolUse", "PreCompact", "SubagentStart", "SubagentStop", "Stop"}, kind: sameKind, form: flatForm(),
		folders: folders{own: ".copilot", shared: true, user: "hooks/cardea-vscode.json", project: ".github/hooks/cardea-vscode.json",
			reads: []read{{Project, ".github/hooks/cardea-vscode.json"}, {User, "hooks/cardea-vscode.json"}}},
		probe: likeClaude("run_in_terminal"), failing: failing{shut: shutMute}}
	h.typed, h.usual, h.ownFile = true, 30*time.Second, true
	return h
}

// windsurf returns Windsurf's Cascade (hooks page). It reads only the exit code, and has no
// configurable limit.
func windsurf() Harness {
	gates := []string{"pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"}
	kinds := map[string]cardea.Kind{"pre_user_prompt": "UserPromptSubmit", "post_run_command": "PostToolUse", "post_write_code": "PostToolUse", "post_read_code": "PostToolUse", "post_mcp_tool_use": "PostToolUse"}
	for _, g := range gates {
		kinds[g] = "PreToolUse"
	}
	return Harness{Name: harness.Canonical("windsurf"), Title: "Windsurf", Program: "windsurf", events: gates, prompts: []string{"pre_user_prompt"},
		more: []string{"post_run_command", "post_write_code", "post_read_code", "post_mcp_tool_use"}, kind: kindsOf(kinds),
		form: form{command: "command", unit: time.Second, extra: []jsonedit.Field{{Key: "show_output", Value: true}}},
		folders: folders{own: ".codeium/windsurf", machine: map[string]string{"linux": "/etc/windsurf", "darwin": "/Library/Application Support/Windsurf", "windows": `C:\ProgramData\Windsurf`},
			user: "hooks.json", project: ".windsurf/hooks.json", managed: "hooks.json", reads: []read{{Managed, "hooks.json"}, {User, "hooks.json"}, {Project, ".windsurf/hooks.json"}}},
		probe: probe{tool: "pre_run_command", message: func(_ Harness, tool, dir string) map[string]any {
			return map[string]any{"agent_action_name": tool, "tool_info": map[string]any{"command_line": deadly, "cwd": dir}}
		}},
		failing: failing{shut: shutMute}}
}

// crush returns Crush (hooks README). Calls of its sub-agents send no event.
func crush() Harness {
	h := Harness{Name: "crush", Title: "Crush", Program: "crush", events: []string{"PreToolUse"}, kind: sameKind, form: flatForm(),
		folders: folders{own: ".config/crush", variable: "XDG_CONFIG_HOME", below: "crush", user: "crush.json", project: ".crush.json",
			reads: []read{{Project, ".crush.json"}, {Project, "crush.json"}, {User, "crush.json"}}},
		probe: probe{tool: "bash", message: func(h Harness, tool, dir string) map[string]any {
			return map[string]any{"event": h.Gate(), "cwd": dir, "tool_name": tool, "tool_input": mustDeny()}
		}, denied: []string{"decision"}},
		failing: failing{shut: shutMute}}
	h.usual = 30 * time.Second
	return h
}

// copilotShell returns Copilot CLI's key for the shell of this machine.
func copilotShell() string {
	if runtime.GOOS == "windows" {
		return "powershell"
	}
	return "bash"
}
