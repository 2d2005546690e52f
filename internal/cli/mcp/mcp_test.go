package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/hook"
)

// connect returns a client of a server with these tools.
func connect(t *testing.T, tools []supervisor.Tool) *sdk.ClientSession {
	t.Helper()
	theirs, ours := io.Pipe()
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), in, ours, tools) }()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: theirs, Writer: out}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		if err := <-done; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return client
}

// says calls a tool, and returns its text and whether it failed.
func says(t *testing.T, c *sdk.ClientSession, tool string, input any) (string, bool) {
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		return err.Error(), true
	}
	text, _ := r.Content[0].(*sdk.TextContent)
	return text.Text, r.IsError
}

// A server works on a bounded number of calls at a time, and answers the others at once.
func TestManyCalls(t *testing.T) {
	release := make(chan struct{})
	begun := make(chan struct{}, 2*maxCalls)
	c := connect(t, []supervisor.Tool{{Name: "waits", Input: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, json.RawMessage) (any, error) {
		begun <- struct{}{}
		<-release
		return told{"done"}, nil
	}}, {Name: "fails", Input: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, json.RawMessage) (any, error) {
		return nil, errors.New("it fails\x1b[2J\nand says why")
	}}})
	if text, failed := says(t, c, "fails", nil); !failed || text != "it fails\\u001b[2J\nand says why" {
		t.Errorf("%q", text)
	}
	var calls sync.WaitGroup
	for range maxCalls {
		calls.Go(func() {
			if text, failed := says(t, c, "waits", nil); failed || text != `{"text":"done"}` {
				t.Errorf("%q", text)
			}
		})
	}
	for range maxCalls {
		<-begun
	}
	if text, failed := says(t, c, "waits", nil); !failed || !strings.Contains(text, "too many calls at once") {
		t.Errorf("one more: %q", text)
	}
	close(release)
	calls.Wait()
}

// A client that pipes its requests gets all answers, despite the end of its input. A slow
// request delays no other.
func TestInputEnds(t *testing.T) {
	const requests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"works","arguments":{}}}
{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"works","arguments":{}}}
`
	tools := []supervisor.Tool{
		{Name: "works", Input: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ json.RawMessage) (any, error) {
			select {
			case <-time.After(300 * time.Millisecond):
				return told{"done"}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}},
		{Name: "waits", Input: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	}
	serve := func(input string) string {
		out := &written{}
		if err := Serve(t.Context(), io.NopCloser(strings.NewReader(input)), out, tools); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if out := serve(requests); strings.Count(out, `{\"text\":\"done\"}`) != 2 || !strings.Contains(out, `"id":2`) || !strings.Contains(out, `"id":"x"`) {
		t.Errorf("not all is answered:\n%s", out)
	}
	out := serve(requests + `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"waits","arguments":{}}}` + "\n")
	if strings.Count(out, `{\"text\":\"done\"}`) != 2 {
		t.Errorf("what ends is not answered:\n%s", out)
	}
}

// written is the output of a server.
type written struct{ output }

func (*written) Close() error { return nil }

// asker is a queue that answers when the test says so.
type asker struct {
	mu    sync.Mutex
	held  []queue.Entry
	reply chan queue.Resolution
}

func (a *asker) Ask(ctx context.Context, r queue.Request) (queue.Reply, error) {
	a.mu.Lock()
	a.held = append(a.held, *r.Hold)
	a.mu.Unlock()
	select {
	case answer := <-a.reply:
		return queue.Reply{Entry: r.Hold, Answer: &answer}, nil
	case <-ctx.Done():
		return queue.Reply{TimedOut: true}, nil
	}
}

func (a *asker) waits(n int) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		a.mu.Lock()
		held := len(a.held)
		a.mu.Unlock()
		if held == n {
			return true
		}
	}
	return false
}

// faceOf returns a face in a new home, whose queue is an asker.
func faceOf(t *testing.T, env map[string]string) (*Face, *asker) {
	t.Helper()
	home := t.TempDir()
	work := filepath.Join(home, "app")
	if err := os.MkdirAll(filepath.Join(work, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := &asker{reply: make(chan queue.Resolution, 100)}
	vars := func(name string) string { return env[name] }
	p := hook.Process{Program: "/nowhere/cardea", Stderr: io.Discard, Env: vars, Dir: work, Now: time.Now, Queue: a,
		Machine: project.Machine{OS: "linux", Env: vars, Foreign: func(string) bool { return false }, Home: func() (string, error) { return home, nil }}}
	return &Face{Process: p, Registrar: func() (hook.Registrar, error) {
		pl := hook.Locate(p, "", "", p.Dir)
		return hook.Registrar{Process: p, Place: &pl, Loaded: hook.Load(p, &pl, nil)}, nil
	}}, a
}

// An agent that floods the queue gets an error, and its requests are denied.
func TestFlood(t *testing.T) {
	f, a := faceOf(t, nil)
	tool := f.prompt()
	ask := func() toolResult {
		out, err := tool.Call(t.Context(), json.RawMessage(`{"tool_name":"Bash","input":{"command":"make report"}}`))
		if err != nil {
			t.Error(err)
		}
		return out.(toolResult)
	}
	var calls sync.WaitGroup
	for range maxPrompts {
		calls.Go(func() {
			if out := ask(); out.Behavior != "allow" || out.Input["command"] != "make report" {
				t.Errorf("%+v", out)
			}
		})
	}
	if !a.waits(maxPrompts) {
		t.Fatal("not all wait")
	}
	for range 50 {
		if out := ask(); out.Behavior != "deny" || !strings.Contains(out.Message, "wait for a person already") {
			t.Errorf("%+v", out)
		}
	}
	for range maxPrompts {
		a.reply <- queue.Resolution{Effect: cardea.Allow, Who: redact.New().Text("liam"), Via: "terminal"}
	}
	calls.Wait()
}

// The entry for a person teaches nothing, matches no call of the hook, and says why. The
// variables of the harness's process do not make it a ticket.
func TestWhatIsAsked(t *testing.T) {
	f, a := faceOf(t, map[string]string{"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_SESSION_ID": "s1"})
	a.reply <- queue.Resolution{Effect: cardea.Deny, Message: redact.New().Text("no"), Who: redact.New().Text("liam"), Via: "terminal"}
	out, err := f.prompt().Call(t.Context(), json.RawMessage(`{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}`))
	if err != nil || out.(toolResult).Behavior != "deny" || !strings.HasPrefix(out.(toolResult).Message, "Cardea: no\n") {
		t.Errorf("%+v %v", out, err)
	}
	if len(a.held) != 1 {
		t.Fatalf("%d are held", len(a.held))
	}
	e := a.held[0]
	if e.Ticket || e.Session.String() != "s1" || len(e.Allows)+len(e.Holds) > 0 || !strings.HasPrefix(e.Digest, "prompt-") || !strings.Contains(e.Why.String(), "nothing is remembered") ||
		e.Effect != cardea.Abstain {
		t.Errorf("%+v", e)
	}
}

// Every answer of the hook except an allow is a denial.
func TestAnswers(t *testing.T) {
	in := asked{Tool: "Bash", Input: object{"command": "ls"}}
	for _, tt := range []struct {
		code      int
		out, errs string
		want      string
	}{
		{0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, "", `{"behavior":"allow","updatedInput":{"command":"ls"}}`},
		{
			0,
			`{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"command":"ls -l","n":12345678901234567890}}}}`,
			"",
			`{"behavior":"allow","updatedInput":{"command":"ls -l","n":12345678901234567890}}`,
		},
		{0, `{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{}}}}`, "", `{"behavior":"allow","updatedInput":{}}`},
		{0, `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"Cardea: no (r)"}}}`, "", `{"behavior":"deny","message":"Cardea: no (r)"}`},
		{2, `{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`, "why\n", `{"behavior":"deny","message":"Cardea: why"}`},
		{2, ``, ``, `{"behavior":"deny","message":"Cardea: the gate denies the call"}`},
		{1, `{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`, "", ""},
		{0, `{"hookSpecificOutput":{"decision":{"behavior":"Allow"}}}`, "", ""},
		{0, `{"hookSpecificOutput":{"permissionDecision":"allow"}}`, "", ""},
		{0, `{"hookSpecificOutput":{"decision":{"behavior":"allow"`, "", ""},
		{0, ``, "", ""}, {0, `[]`, "", ""}, {0, `null`, "", ""}, {0, `{"decision":{"behavior":"allow"}}`, "", ""},
	} {
		if tt.want == "" {
			tt.want = `{"behavior":"deny","message":"Cardea: no person allowed the call; ask the person in words what they want, and stop (queue)"}`
		}
		got, err := json.Marshal(answerOf(in, tt.code, []byte(tt.out), tt.errs))
		if err != nil || string(got) != tt.want {
			t.Errorf("%d %s: %s, want %s (%v)", tt.code, tt.out, got, tt.want, err)
		}
	}
}
