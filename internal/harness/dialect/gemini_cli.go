package dialect

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// geminiCLI is the dialect of Gemini CLI (https://geminicli.com/docs/hooks/reference; seen:
// 0.61.0). An allow has no effect: its policies and its own prompt come after the hook. An ask
// makes it prompt, and hangs in an unattended session. It denies by exit code 2 only with a reason
// on standard error.
var geminiCLI = Dialect{
	name: "gemini-cli", seen: true,
	event: []string{"hook_event_name"}, session: []string{"session_id"}, cwd: []string{"cwd"},
	kinds: []kind{{"BeforeTool", cardea.PreToolUse}, {"AfterTool", "PostToolUse"}, {"BeforeAgent", "UserPromptSubmit"}, {"AfterAgent", "Stop"},
		{"PreCompress", "PreCompact"}},
	shapes: []shape{claudeAfter, claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Ask, AskUnattended: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Halt, Notice: true,
			Rewrite: true, RewritesInFlow: true, AsksRewritten: true, Context: cardea.ContextOnAsk},
		{Kinds: []cardea.Kind{"PostToolUse"}, Notice: true, Context: cardea.ContextAlways},
		{Kinds: []cardea.Kind{""}},
		{Notice: true},
	},
	write: writeGemini, server: geminiServer, program: "gemini", headless: geminiHeadless,
}

type geminiAnswer struct {
	Continue      *bool          `json:"continue,omitempty"`
	StopReason    string         `json:"stopReason,omitempty"`
	Decision      string         `json:"decision,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	SystemMessage string         `json:"systemMessage,omitempty"`
	Hook          map[string]any `json:"hookSpecificOutput,omitempty"`
}

// writeGemini returns an answer in Gemini CLI's form.
func writeGemini(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output {
	out := geminiAnswer{SystemMessage: harness.NoticeWithNext(a)}
	switch a.Effect {
	case cardea.Ask:
		out.Decision, out.Reason = "ask", harness.ForBoth(a, a.Context...)
	case cardea.Deny, cardea.Halt:
		out.Decision, out.Reason = "deny", harness.ForModel(a, a.Context...)
		if a.Effect == cardea.Halt {
			no := false
			out.Continue, out.StopReason = &no, harness.ForPerson(a)
		}
	}
	switch {
	case ev.Kind == cardea.PreToolUse && a.Rewrite != nil:
		out.Hook = map[string]any{"hookEventName": "BeforeTool", "tool_input": harness.Rewritten(d.name, ev, a)}
	case ev.Kind == "PostToolUse" && harness.Beside(a) != "":
		out.Hook = map[string]any{"hookEventName": "AfterTool", "additionalContext": harness.Beside(a)}
	}
	if out.Decision == "" && out.SystemMessage == "" && out.Hook == nil {
		return harness.Output{}
	}
	return said(out, "")
}

// geminiServer reads mcp_context: the name of the tool joins server and tool.
func geminiServer(r *harness.Reading, name string) (server, tool string) {
	if !strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "mcp__") {
		return "", ""
	}
	server, tool = r.Text("mcp_context.server_name"), r.Text("mcp_context.tool_name")
	if server == "" || tool == "" || name != "mcp_"+server+"_"+tool {
		r.Defect("tool_name", "does not say which server of MCP is meant")
		return splitServer(name)
	}
	return server, tool
}

// splitServer splits a name such as mcp_SERVER_TOOL, if the name of the server has no underscore.
func splitServer(name string) (server, tool string) {
	server, tool, _ = strings.Cut(strings.TrimPrefix(name, "mcp_"), "_")
	if tool == "" {
		return "", ""
	}
	return server, tool
}

// geminiHeadless reports whether the arguments have -p, --prompt or their forms with a value, or
// the prompt is on standard input. An editor that uses ACP has a person in front of it.
func geminiHeadless(args []string, piped func() bool) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return slices.Contains(names, name)
		})
	}
	return has("-p", "--prompt") || !has("--acp", "--experimental-acp") && piped()
}
