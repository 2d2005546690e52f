package conformance

import (
	"encoding/json"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// The readers are models of harnesses: what each does with the output of a hook.
// They are written from the vendors' pages and from what was measured on the real
// programs (docs/harnesses.md), and not from the renderers.

// ReadClaudeCode is what Claude Code does (hooks, "JSON output", "Decision
// control", "Exit code 2 behavior per event"). It knows the documented keys only.
func ReadClaudeCode(ev *cardea.Event, o harness.Output) Outcome {
	event := string(ev.Kind)
	if o.Exit == 2 {
		if claudeBlocksOnExit(event) {
			return Blocked
		}
		return OwnFlow // not honoured on PermissionRequest
	}
	top := documented(o.Stdout, "continue", "stopReason", "suppressOutput", "systemMessage", "terminalSequence", "hookSpecificOutput", "decision", "reason")
	hook, there := top["hookSpecificOutput"].(map[string]any)
	switch {
	case there && hook["hookEventName"] != event:
		return OwnFlow // fails the schema
	case top["continue"] == false:
		return Stopped
	case event == "PermissionRequest":
		decision, _ := hook["decision"].(map[string]any)
		return outcomeOf(decision["behavior"])
	case event == "PreToolUse" && top["decision"] == "approve": // the deprecated form
		return Runs
	case top["decision"] == "block" && claudeBlocksByDecision(event):
		return Blocked
	case event == "PreToolUse":
		return outcomeOf(hook["permissionDecision"])
	}
	return OwnFlow
}

func claudeBlocksOnExit(event string) bool {
	return slices.Contains([]string{"PreToolUse", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "TeammateIdle", "TaskCreated",
		"TaskCompleted", "ConfigChange", "PostToolBatch", "PreCompact", "PreModelSwitch", "Elicitation", "ElicitationResult",
		"WorktreeCreate", "WorktreeRemove"}, event)
}

func claudeBlocksByDecision(event string) bool {
	return slices.Contains([]string{"PreToolUse", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolBatch", "SubagentStop",
		"TaskCreated", "Stop", "ConfigChange", "PreCompact", "PreModelSwitch", "Elicitation", "ElicitationResult"}, event)
}

// documented reads stdout as an object with no other keys than these. What is no
// such object is plain text, or an error that blocks nothing.
func documented(stdout []byte, keys ...string) map[string]any {
	out := strings.TrimSpace(string(stdout))
	var top map[string]any
	if !strings.HasPrefix(out, "{") || json.Unmarshal([]byte(out), &top) != nil {
		return nil
	}
	for k := range top {
		if !slices.Contains(keys, k) {
			return nil
		}
	}
	return top
}

// outcomeOf is what the words of most harnesses mean.
func outcomeOf(word any) Outcome {
	switch word {
	case "allow":
		return Runs
	case "ask":
		return Prompts
	case "deny":
		return Blocked
	}
	return OwnFlow
}

// ReadCopilot is what Copilot CLI does (hooks reference, "Hook output"; exit 2 on
// permissionRequest is measured).
func ReadCopilot(ev *cardea.Event, o harness.Output) Outcome {
	switch {
	case o.Exit != 0 && ev.Kind == cardea.PreToolUse, o.Exit == 2 && ev.Kind == cardea.PermissionRequest:
		return Blocked
	case o.Exit != 0:
		return OwnFlow
	}
	out := string(o.Stdout)
	for { // progress lines are stripped
		line, rest, found := strings.Cut(out, "\n")
		if !found || !strings.Contains(line, `"type":"progress"`) {
			break
		}
		out = rest
	}
	var top map[string]any
	if json.Unmarshal([]byte(out), &top) != nil {
		return OwnFlow
	}
	switch ev.Kind {
	case cardea.PreToolUse:
		if reason, _ := top["permissionDecisionReason"].(string); top["permissionDecision"] == "deny" && reason == "" {
			return OwnFlow
		}
		return outcomeOf(top["permissionDecision"])
	case cardea.PermissionRequest:
		if top["behavior"] == "deny" && top["interrupt"] == true {
			return Stopped
		}
		return outcomeOf(top["behavior"])
	case "Stop", "SubagentStop":
		if top["decision"] == "block" {
			return Blocked
		}
	}
	return OwnFlow
}

// ReadSender is what a sender does with the output of a hook that is installed for
// Claude Code, or for nobody.
func ReadSender(sender string, ev *cardea.Event, o harness.Output) Outcome {
	if !ev.Kind.Answered() {
		return ReadClaudeCode(ev, o)
	}
	if o.Exit == 2 {
		return Blocked
	}
	out := ReadClaudeCode(ev, o)
	switch sender {
	case "vscode", "grok-build", "qwen-code":
		return out
	case "copilot-cli": // it ignores Claude Code's answers to PermissionRequest
		if ev.Kind == cardea.PreToolUse && strings.HasPrefix(ev.Wire, "Pre") {
			return out
		}
	case "factory-droid": // where nobody can answer, a question lets the call run
		if out == Prompts && !ev.Attended() {
			return Runs
		}
		return out
	case "cursor": // preToolUse has no question, and goes on
		if out == Prompts {
			return Runs
		}
		return out
	case "crush": // no opinion, so its own prompt follows
		if out == Prompts {
			return OwnFlow
		}
		return out
	}
	return OwnFlow
}

// Agrees reports whether an outcome is what an effect means. Silence stands for
// abstain and defer, and on PermissionRequest for ask: there the harness is asking.
func Agrees(kind cardea.Kind, e cardea.Effect, o Outcome) bool {
	switch e {
	case cardea.Abstain, cardea.Defer:
		return o == OwnFlow
	case cardea.Allow:
		return o == Runs
	case cardea.Ask:
		return o == Prompts || o == OwnFlow && kind == cardea.PermissionRequest
	case cardea.Deny:
		return o == Blocked
	case cardea.Halt:
		return o == Stopped
	}
	return false
}
