// Package mcp implements Cardea as a server of the Model Context Protocol
// (modelcontextprotocol.io). Its tools show the gate to an agent, and ask a person for a
// harness without its own prompt. The agent is not trusted, so no tool permits anything.
// The tools tell the agent what to ask the person to do.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/internal/hook"
)

// Name is the name under which to add the server to a harness. Permissions, agents and the
// hook know its tools as mcp__cardea__TOOL.
const Name = "cardea"

// maxCalls is the most calls of one server at a time.
const maxCalls = 32

// instructions are the server's instructions for a model.
const instructions = "Cardea is the gate that decides about your tool calls. These tools show it; none of them permits anything. " +
	"What only the person may do, tell the person."

// Serve answers on a pair of streams, until the client closes them or ctx ends. It first
// answers earlier requests, within limit.LastAnswers.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, tools []supervisor.Tool) error {
	server := sdk.NewServer(&sdk.Implementation{Name: Name, Title: "Cardea", Version: hook.ThisVersion()}, &sdk.ServerOptions{Instructions: instructions})
	places := make(chan struct{}, maxCalls)
	for _, t := range tools {
		server.AddTool(&sdk.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Input}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
			default:
				return result("", errors.New("too many calls at once; wait for the answers to the others")), nil
			}
			return call(ctx, t, r.Params.Arguments), nil
		})
	}
	// A hook's message may have this length.
	err := server.Run(ctx, &transport{sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: hook.MaxInput}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// call calls a tool. An error becomes the result, for the agent.
func call(ctx context.Context, t supervisor.Tool, input json.RawMessage) *sdk.CallToolResult {
	value, err := t.Call(ctx, input)
	if err != nil {
		return result("", err)
	}
	text, err := json.Marshal(value)
	return result(string(text), err)
}

func result(text string, err error) *sdk.CallToolResult {
	if err != nil {
		text = hook.PlainText(err.Error())
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: err != nil}
}

// read decodes the input of a tool into a struct. Unknown fields are an error.
func read(input json.RawMessage, into any) error {
	if len(input) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the input is not understood: %w", err)
	}
	return nil
}
