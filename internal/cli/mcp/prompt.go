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

// maxPrompts is how many questions of one server wait for a person at a time.
const maxPrompts = 16

// asked is what Claude Code sends to the tool that --permission-prompt-tool names
// (code.claude.com/docs/en/cli-reference; seen with 2.1.330).
type asked struct {
	Tool  string `json:"tool_name"`
	Input object `json:"input"`
	UseID string `json:"tool_use_id"`
}

// object is the input of a tool. It is read once, and what is judged, shown and allowed is
// written from what was read: of a key that comes twice, all see the same value.
type object map[string]any

// answer is what it expects: the text of the tool's result.
type answer struct {
	Behavior string `json:"behavior"`
	// Input is what is to run, where the call is allowed.
	Input object `json:"updatedInput,omitzero"`
	// Message is for the model, where it is not.
	Message string `json:"message,omitempty"`
}

func denied(why string) answer {
	return answer{Behavior: "deny", Message: harness.Refused("queue", why)}
}

// prompt is the tool permission_prompt.
func (f *Face) prompt() supervisor.Tool {
	waiting := make(chan struct{}, maxPrompts)
	return supervisor.Tool{Name: "permission_prompt",
		Description: "For the harness, not for agents: ask the person whether a tool call may run (claude --permission-prompt-tool mcp__cardea__permission_prompt). " +
			"An answer to a call of this tool by an agent lets nothing run.",
		Input: json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input"]}`),
		Call: func(_ context.Context, input json.RawMessage) (any, error) {
			var in asked
			d := json.NewDecoder(bytes.NewReader(input))
			d.UseNumber() // numbers stay as they are written
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

// ask has the gate decide, and a person where the gate does not deny.
func (f *Face) ask(in asked) (any, error) {
	d, err := f.Desk()
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
			return "" // that nobody sits in front of the harness is why this tool is called
		}
		return f.Process.Env(name)
	}
	// The person's time, and as much as the hook takes for itself.
	h := hook.New(p, hook.CheckFlags{Harness: claudecode.Name, Limit: (d.Loaded.Settings.Human.Timeout+2*limit.QueueSettle)*5/4 + limit.Hook})
	code := h.Run() // it may leave work behind, which must not hold the answer up
	return answerOf(in, code, []byte(out.String()), errs.String()), nil
}

// output is what a hook writes, and what it leaves behind may write still.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write keeps what is written.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is what was written so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// answerOf is the hook's answer in the form of the tool. All that is no allow is a denial.
func answerOf(in asked, code int, out []byte, errs string) answer {
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
		return answer{Behavior: "deny", Message: harness.Named(cmp.Or(strings.TrimSpace(errs), "the gate denies the call"))}
	case code == hook.ExitOK && err == nil && decision.Behavior == "allow":
		if decision.Input == nil {
			decision.Input = in.Input
		}
		return answer{Behavior: "allow", Input: decision.Input}
	case decision.Message != "":
		return answer{Behavior: "deny", Message: harness.Named(decision.Message)}
	}
	return denied("no person allowed the call; ask the person in words what they want, and stop")
}
