package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/hook"
)

// maxPrompts is the most questions of one server that wait for a person at a time.
const maxPrompts = 16

// asked is the input from Claude Code for the tool that --permission-prompt-tool names
// (code.claude.com/docs/en/cli-reference; seen with 2.1.330).
type asked struct {
	Tool  string `json:"tool_name"`
	Input object `json:"input"`
	UseID string `json:"tool_use_id"`
}

// object is the input of a tool. It is parsed once, and the judged, shown and allowed
// inputs are made from the result. So all have the same value of a key that comes twice.
type object map[string]any

// toolResult is the expected text of the tool's result.
type toolResult struct {
	Behavior string `json:"behavior"`
	// Input is the input to run, if the call is allowed.
	Input object `json:"updatedInput,omitzero"`
	// Message is for the model, if the call is denied.
	Message string `json:"message,omitempty"`
}

func denied(why string) toolResult {
	return toolResult{Behavior: "deny", Message: harness.Refused("queue", why)}
}

// prompt returns the tool permission_prompt.
func (f *Face) prompt() supervisor.Tool {
	waiting := make(chan struct{}, maxPrompts)
	return supervisor.Tool{Name: "permission_prompt",
		Description: "For the harness, not for agents: ask the person whether a tool call may run (claude --permission-prompt-tool mcp__cardea__permission_prompt). " +
			"An answer to a call of this tool by an agent lets nothing run.",
		Input: json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input"]}`),
		Call: func(_ context.Context, input json.RawMessage) (any, error) {
			var in asked
			d := json.NewDecoder(bytes.NewReader(input))
			d.UseNumber() // numbers stay as written
			if err := d.Decode(&in); err != nil {
				return nil, fmt.Errorf("the input is not understood: %w", err)
			}
			select {
			case waiting <- struct{}{}:
				defer func() { <-waiting }()
			default:
				return denied(fmt.Sprintf("%d calls of this session wait for a person already; try again when they are answered", maxPrompts)), nil
			}
			return f.ask(in)
		}}
}

// ask lets the gate decide, and then a person if the gate does not deny.
func (f *Face) ask(in asked) (any, error) {
	d, err := f.Registrar()
	if err != nil {
		return nil, err
	}
	if in.Tool == "" || in.Input == nil {
		return nil, errors.New("tool_name and input are missing")
	}
	message, err := json.Marshal(map[string]any{"hook_event_name": cardea.PermissionRequest, "session_id": f.session(), "cwd": f.Process.Dir,
		"permission_mode": cardea.ModeDefault, "tool_name": in.Tool, "tool_input": in.Input, "tool_use_id": in.UseID})
	if err != nil {
		return nil, fmt.Errorf("the input is not understood: %w", err)
	}
	var out, errs output
	p := f.Process
	p.AsPrompt, p.Stdin, p.Stdout, p.Stderr = true, bytes.NewReader(message), &out, &errs
	p.Env = func(name string) string {
		if name == "CLAUDE_CODE_SESSION_ATTENDED" {
			return "" // the harness calls this tool because no person attends it
		}
		return f.Process.Env(name)
	}
	// The time for the person, and the hook's own time.
	h := hook.New(p, hook.CheckFlags{Harness: claudecode.Name, Limit: (d.Loaded.Settings.Human.Timeout+2*limit.QueueSettle)*5/4 + limit.Hook})
	code := h.Run() // leftover work of the hook must not delay the answer
	return answerOf(in, code, []byte(out.String()), errs.String()), nil
}

// output collects what a hook writes. Leftover work may still write later.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the output.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// answerOf returns the hook's answer in the form of the tool. Everything except an allow is
// a denial.
func answerOf(in asked, code int, out []byte, errs string) toolResult {
	var said struct {
		Output struct {
			Decision struct {
				Behavior string `json:"behavior"`
				Input    object `json:"updatedInput"`
				Message  string `json:"message"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	err := d.Decode(&said)
	decision := said.Output.Decision
	switch {
	case code == hook.ExitDeny:
		return toolResult{Behavior: "deny", Message: harness.Named(cmp.Or(strings.TrimSpace(errs), "the gate denies the call"))}
	case code == hook.ExitOK && err == nil && decision.Behavior == "allow":
		if decision.Input == nil {
			decision.Input = in.Input
		}
		return toolResult{Behavior: "allow", Input: decision.Input}
	case decision.Message != "":
		return toolResult{Behavior: "deny", Message: harness.Named(decision.Message)}
	}
	return denied("no person allowed the call; ask the person in words what they want, and stop")
}
