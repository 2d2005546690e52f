package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"cardea.dev/internal/ask/queue/store"
)

// mcpKey is the key of a script's client.
const mcpKey = "mcp"

// scriptClient is a script's client of "cardea mcp", nil before it is started.
type scriptClient struct {
	session *mcp.ClientSession
	result  chan string
}

// speakMCP implements the command "mcp", with which a script is a client of the server
// "cardea mcp". A tool's text goes to standard output, or to standard error on failure.
//
//	mcp start PROGRAM     start "PROGRAM mcp", as the harness that the tests are
//	mcp tools             list the tools
//	mcp call TOOL [FILE]  call a tool with an input
//	mcp begin TOOL FILE   begin a call; mcp end waits for its result
//	mcp end
//	mcp stop              close the connection
func speakMCP(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: mcp start|tools|call|begin|end|stop")
	}
	c := ts.Value(mcpKey).(*scriptClient)
	ctx := context.Background()
	if args[0] == "start" {
		c.start(ctx, ts, args[1])
		return
	}
	if c.session == nil {
		ts.Fatalf("say \"mcp start cardea\" first")
	}
	switch args[0] {
	case "stop":
		ts.Check(c.session.Close())
		c.session = nil
	case "tools":
		all, err := c.session.ListTools(ctx, nil)
		ts.Check(err)
		for _, t := range all.Tools {
			fmt.Fprintln(ts.Stdout(), t.Name)
		}
	case "call":
		finish(ts, neg, c.call(ctx, ts, args[1:]))
	case "begin":
		input := inputOf(ts, args[1:])
		session := c.session
		c.result = make(chan string, 1)
		go func() { c.result <- callTool(ctx, session, args[1], input) }()
	case "end":
		finish(ts, neg, <-c.result)
	default:
		ts.Fatalf("mcp %q is not known", args[0])
	}
}

func (c *scriptClient) start(ctx context.Context, ts *testscript.TestScript, program string) {
	path := ""
	for _, dir := range strings.Split(ts.Getenv("PATH"), ":") {
		if found, err := exec.LookPath(dir + "/" + program); err == nil {
			path = found
			break
		}
	}
	server := exec.Command(path, "mcp")
	server.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "WORK", "CLAUDE_CODE_SESSION_ID", "TMPDIR"} {
		server.Env = append(server.Env, name+"="+ts.Getenv(name))
	}
	server.Stderr = ts.Stderr()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	ts.Check(err)
	c.session = session
	ts.Defer(func() {
		if c.session != nil {
			_ = c.session.Close()
		}
	})
}

func inputOf(ts *testscript.TestScript, args []string) any {
	if len(args) < 2 {
		return map[string]any{}
	}
	return json.RawMessage(strings.TrimSpace(ts.ReadFile(args[1])))
}

func (c *scriptClient) call(ctx context.Context, ts *testscript.TestScript, args []string) string {
	return callTool(ctx, c.session, args[0], inputOf(ts, args))
}

// callTool returns a tool's text, after "error: " on failure.
func callTool(ctx context.Context, session *mcp.ClientSession, tool string, input any) string {
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		return "error: " + err.Error()
	}
	text := ""
	for _, c := range r.Content {
		if t, is := c.(*mcp.TextContent); is {
			text += t.Text
		}
	}
	if r.IsError {
		text = "error: " + text
	}
	return text
}

// waitForEntry is the command "waits": it waits until a call is in the queue.
func waitForEntry(ts *testscript.TestScript, neg bool, args []string) {
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		s, err := store.Open(filepath.Join(ts.Getenv("HOME"), ".local/state/cardea"), time.Now)
		ts.Check(err)
		all, err := s.Pending(context.Background())
		ts.Check(errors.Join(err, s.Close()))
		if len(all) > 0 {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("nothing waits in the queue")
		}
	}
}

// finish prints a tool's text, and checks that it failed as expected.
func finish(ts *testscript.TestScript, neg bool, text string) {
	why, failed := strings.CutPrefix(text, "error: ")
	if failed {
		fmt.Fprintln(ts.Stderr(), why)
	} else {
		fmt.Fprintln(ts.Stdout(), text)
	}
	if failed != neg {
		ts.Fatalf("the tool says %s", text)
	}
}
