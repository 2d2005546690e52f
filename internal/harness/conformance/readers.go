package conformance

import (
	"encoding/json"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// The readers are models of harnesses: the reaction of each to the output of a hook. They are
// written from the vendors' pages and from measurements of the real programs (docs/harnesses.md),
// and not from the renderers.

// ReadClaudeCode returns the reaction of Claude Code (hooks, "JSON output", "Decision control",
// "Exit code 2 behavior per event"). It knows only the documented keys.
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
	case event == "PreSkillShellCommand" && (hook["updatedInput"] != nil || slices.Contains([]any{"deny", "ask", "defer"}, hook["permissionDecision"])):
		return Blocked
	}
	return OwnFlow
}

func claudeBlocksOnExit(event string) bool {
	return slices.Contains([]string{"PreToolUse", "PreSkillShellCommand", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "TeammateIdle", "TaskCreated",
		"TaskCompleted", "ConfigChange", "PostToolBatch", "PreCompact", "PreModelSwitch", "Elicitation", "ElicitationResult",
		"WorktreeCreate", "WorktreeRemove"}, event)
}

func claudeBlocksByDecision(event string) bool {
	return slices.Contains([]string{"PreToolUse", "PreSkillShellCommand", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolBatch", "SubagentStop",
		"TaskCreated", "Stop", "ConfigChange", "PreCompact", "PreModelSwitch", "Elicitation", "ElicitationResult"}, event)
}

// documented reads stdout as an object with no keys except these. Any other output is plain text,
// or an error that blocks nothing.
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

// outcomeOf returns the meaning of the words that most harnesses use.
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

// ReadCopilot returns the reaction of Copilot CLI (hooks reference, "Hook output"; exit 2 on
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

// claudeForm reads the form that several harnesses took from Claude Code: the answer to a call is
// in hookSpecificOutput, which names its event.
func claudeForm(event string, top map[string]any) (hook map[string]any, ok bool) {
	hook, there := top["hookSpecificOutput"].(map[string]any)
	return hook, !there || hook["hookEventName"] == event
}

// nonEmpty reports whether a value is a nonempty text.
func nonEmpty(v any) bool { s, ok := v.(string); return ok && strings.TrimSpace(s) != "" }

// ReadCodex returns the reaction of Codex CLI (hooks, "Output"; measured). Unknown keys, ask, allow
// without another input and a denial without a reason make the hook fail, and the call goes on as
// without a hook. An allow with another input goes on with that input. Exit code 2 denies if there
// is text on standard error.
func ReadCodex(ev *cardea.Event, o harness.Output) Outcome {
	event := string(ev.Kind)
	blocks := slices.Contains([]string{"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop", "PostToolUse"}, event)
	if o.Exit == 2 && blocks && len(strings.TrimSpace(string(o.Stderr))) > 0 {
		return Blocked
	}
	if o.Exit != 0 {
		return OwnFlow
	}
	top := documented(o.Stdout, "systemMessage", "decision", "reason", "hookSpecificOutput")
	hook, ok := claudeForm(event, top)
	if !ok {
		return OwnFlow
	}
	for k := range hook {
		if !slices.Contains([]string{"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "decision"}, k) {
			return OwnFlow
		}
	}
	switch {
	case event == "PermissionRequest":
		decision, _ := hook["decision"].(map[string]any)
		for k := range decision {
			if k != "behavior" && k != "message" {
				return OwnFlow
			}
		}
		return outcomeOf(decision["behavior"])
	case event == "PreToolUse" && hook["permissionDecision"] == "deny" && nonEmpty(hook["permissionDecisionReason"]):
		return Blocked
	case blocks && top["decision"] == "block" && nonEmpty(top["reason"]):
		return Blocked
	}
	return OwnFlow
}

// ReadGemini returns the reaction of Gemini CLI (hooks reference; measured): allow is its own flow,
// continue: false ends the agent loop, and exit code 2 denies with a reason.
func ReadGemini(ev *cardea.Event, o harness.Output) Outcome {
	if o.Exit == 2 {
		if ev.Kind == cardea.PreToolUse && len(strings.TrimSpace(string(o.Stderr))) > 0 {
			return Blocked
		}
		return OwnFlow
	}
	top := documented(o.Stdout, "decision", "reason", "systemMessage", "suppressOutput", "continue", "stopReason", "hookSpecificOutput")
	switch {
	case ev.Kind != cardea.PreToolUse:
		return OwnFlow
	case top["continue"] == false:
		return Stopped
	case top["decision"] == "deny", top["decision"] == "block":
		return Blocked
	case top["decision"] == "ask":
		if !ev.Attended() {
			return OwnFlow // it waits for ever, which is not a safe denial
		}
		return Prompts
	}
	return OwnFlow
}

// ReadQwen returns the reaction of Qwen Code (hooks; measured): an answer without a reason is
// dropped, and an ask is a denial in an unattended session.
func ReadQwen(ev *cardea.Event, o harness.Output) Outcome {
	event := string(ev.Kind)
	if o.Exit == 2 {
		if ev.Kind.Answered() && len(strings.TrimSpace(string(o.Stderr))) > 0 {
			return Blocked
		}
		return OwnFlow
	}
	top := documented(o.Stdout, "continue", "stopReason", "systemMessage", "decision", "reason", "hookSpecificOutput")
	hook, ok := claudeForm(event, top)
	switch {
	case !ok:
		return OwnFlow
	case event == "PermissionRequest":
		decision, _ := hook["decision"].(map[string]any)
		return outcomeOf(decision["behavior"])
	case event == "PreToolUse" && nonEmpty(hook["permissionDecisionReason"]):
		return outcomeOf(hook["permissionDecision"])
	case slices.Contains([]string{"UserPromptSubmit", "Stop", "SubagentStop"}, event) && top["decision"] == "block":
		return Blocked
	}
	return OwnFlow
}

// ReadDroid returns the reaction of Droid (hooks; measured): "droid exec" runs calls for which a
// hook asks, and exit code 2 denies.
func ReadDroid(ev *cardea.Event, o harness.Output) Outcome {
	event := string(ev.Kind)
	if o.Exit == 2 {
		if event == "PreToolUse" {
			return Blocked
		}
		return OwnFlow
	}
	top := documented(o.Stdout, "continue", "stopReason", "systemMessage", "decision", "reason", "hookSpecificOutput")
	hook, ok := claudeForm(event, top)
	switch {
	case !ok:
		return OwnFlow
	case event == "PreToolUse" && top["continue"] == false && hook["permissionDecision"] == "deny":
		return Stopped
	case event == "PreToolUse":
		if out := outcomeOf(hook["permissionDecision"]); out != Prompts || ev.Attended() {
			return out
		}
		return Runs
	case slices.Contains([]string{"UserPromptSubmit", "Stop", "SubagentStop"}, event) && top["decision"] == "block":
		return Blocked
	}
	return OwnFlow
}

// ReadCline returns the reaction of Cline (measured on its command line): cancel stops the call and
// the turn on any exit code. Nothing else has an effect, not even a review.
func ReadCline(ev *cardea.Event, o harness.Output) Outcome {
	top := documented(o.Stdout, "cancel", "errorMessage", "contextModification", "review", "context", "overrideInput")
	if ev.Kind == cardea.PreToolUse && top["cancel"] == true {
		return Blocked
	}
	return OwnFlow
}

// ReadCursor returns the reaction of Cursor (hooks, "Reference"). A question applies only before a
// shell command and a call of MCP, and an allow there skips its prompt. On other events an allow
// goes on.
func ReadCursor(ev *cardea.Event, o harness.Output) Outcome {
	if o.Exit == 2 {
		if ev.Kind == cardea.PreToolUse {
			return Blocked
		}
		return OwnFlow
	}
	top := documented(o.Stdout, "permission", "user_message", "agent_message", "updated_input", "continue")
	prompts := ev.Wire == "beforeShellExecution" || ev.Wire == "beforeMCPExecution"
	switch {
	case ev.Kind == "UserPromptSubmit" && top["continue"] == false:
		return Blocked
	case ev.Kind != cardea.PreToolUse:
		return OwnFlow
	case prompts || top["permission"] == "deny":
		return outcomeOf(top["permission"])
	}
	return OwnFlow
}

// ReadVSCode returns the reaction of VS Code (hooks, "PreToolUse output").
func ReadVSCode(ev *cardea.Event, o harness.Output) Outcome {
	if o.Exit == 2 {
		if ev.Kind == cardea.PreToolUse {
			return Blocked
		}
		return OwnFlow
	}
	top := documented(o.Stdout, "continue", "stopReason", "systemMessage", "hookSpecificOutput")
	hook, ok := claudeForm(string(ev.Kind), top)
	switch {
	case !ok:
		return OwnFlow
	case top["continue"] == false:
		return Stopped
	case ev.Kind == cardea.PreToolUse:
		return outcomeOf(hook["permissionDecision"])
	}
	return OwnFlow
}

// ReadExit returns the reader of a harness that only reads exit code 2, on these events.
func ReadExit(blocked ...cardea.Kind) func(*cardea.Event, harness.Output) Outcome {
	return func(ev *cardea.Event, o harness.Output) Outcome {
		if o.Exit == 2 && slices.Contains(blocked, ev.Kind) {
			return Blocked
		}
		return OwnFlow
	}
}

// ReadCrush returns the reaction of Crush (docs/hooks, "Output"): there is only PreToolUse, a halt
// ends the turn, and any word except allow and deny is no opinion.
func ReadCrush(ev *cardea.Event, o harness.Output) Outcome {
	if ev.Kind != cardea.PreToolUse {
		return OwnFlow
	}
	if o.Exit == 2 {
		return Blocked
	}
	top := documented(o.Stdout, "version", "decision", "reason", "context", "updated_input", "halt", "hookSpecificOutput")
	hook, _ := top["hookSpecificOutput"].(map[string]any) // Claude Code's form is also accepted
	switch {
	case hook["permissionDecision"] == "allow", hook["permissionDecision"] == "deny":
		return outcomeOf(hook["permissionDecision"])
	case top["halt"] == true:
		return Stopped
	case top["decision"] == "allow", top["decision"] == "deny":
		return outcomeOf(top["decision"])
	}
	return OwnFlow
}

// ReadPlugin returns the reader of Cardea's plugins (docs/harnesses.md, "Plugins"), for a harness
// that accepts these words about a call before it runs. It accepts all words when it evaluates a
// permission. A plugin refuses an unknown answer.
func ReadPlugin(words ...string) func(*cardea.Event, harness.Output) Outcome {
	return func(ev *cardea.Event, o harness.Output) Outcome {
		if !ev.Kind.Answered() {
			return OwnFlow
		}
		top := documented(o.Stdout, "decision", "reason", "input", "halt", "notice")
		word, _ := top["decision"].(string)
		switch {
		case o.Exit != 0 || top == nil:
			return Blocked
		case word == "none":
			return OwnFlow
		case ev.Kind == cardea.PermissionRequest:
			return outcomeOf(word)
		case word == "ask" && !ev.Attended() || !slices.Contains(words, word):
			return Blocked
		}
		return outcomeOf(word)
	}
}

// Reader returns the reader of a harness with a hook of its own, nil for one without an adapter.
func Reader(name string) func(*cardea.Event, harness.Output) Outcome {
	switch name {
	case "claude-code":
		return ReadClaudeCode
	case "copilot-cli":
		return ReadCopilot
	case "codex":
		return ReadCodex
	case "gemini-cli":
		return ReadGemini
	case "qwen-code":
		return ReadQwen
	case "factory-droid":
		return ReadDroid
	case "cline":
		return ReadCline
	case "opencode":
		return ReadPlugin("deny")
	case "pi", "amp":
		return ReadPlugin("allow", "ask", "deny")
	case "cursor":
		return ReadCursor
	case "vscode":
		return ReadVSCode
	case "windsurf-cascade":
		return ReadExit(cardea.PreToolUse, "UserPromptSubmit")
	case "kiro", "augment":
		return ReadExit(cardea.PreToolUse)
	case "crush":
		return ReadCrush
	}
	return nil
}

// ReadSender returns the reaction of a sender to the output of a hook that is installed for Claude
// Code, or without a harness.
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
	case "factory-droid": // where no person can answer, a question lets the call run
		if out == Prompts && !ev.Attended() {
			return Runs
		}
		return out
	case "cursor": // preToolUse has no question, and goes on
		if out == Prompts {
			return Runs
		}
		return out
	case "crush": // no opinion, so its own flow follows, which need not prompt
		if out == Prompts {
			return Runs
		}
		return out
	}
	return OwnFlow
}

// Agrees reports whether an outcome matches an effect. Silence means abstain and defer, and on
// PermissionRequest also ask: there the harness is asking.
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
