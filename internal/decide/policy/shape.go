package policy

import (
	"maps"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/policy/engine"
)

// shapes returns the shapes of the input of policies, for Cardea's packages and for
// Cupcake's. It builds the examples in the same way as the input itself, so no second list
// of input.cardea is needed.
func (s Sources) shapes(modules []module) []engine.Shape {
	out := []engine.Shape{s.shape(false), s.shape(true)}
	for _, m := range modules {
		if m.Data != "" || strings.HasSuffix(m.Path, TestSuffix) {
			continue // a test defines its own input
		}
		of := &out[0]
		if ofCupcake(m.facts.Package) {
			of = &out[1]
		}
		of.Files = append(of.Files, m.Path)
		if tools := s.routedTools(m.facts.Tools); len(tools) > 0 {
			of.Routed[m.Path] = tools
		}
	}
	return out
}

// routedTools returns the canonical names of the tools to which a policy is routed.
func (s Sources) routedTools(words []string) []string {
	var out []string
	for _, word := range words {
		if name, known := s.Tool(word); known {
			word = name
		}
		out = union(out, []string{word})
		if word == "Bash" {
			out = union(out, []string{"Monitor"})
		}
	}
	return out
}

// shape returns the shape of the input of one kind of package.
func (s Sources) shape(cupcake bool) engine.Shape {
	out := engine.Shape{Input: Input(example("", nil), nil, s.Settings), Tools: map[string]any{}, Routed: map[string][]string{}}
	for tool, fields := range s.Fields {
		ev := example(tool, fields)
		in := Input(ev, nil, s.Settings)
		if cupcake {
			asCupcake(in, ev)
		}
		out.Tools[in["tool_name"].(string)] = in["tool_input"]
		maps.Copy(out.Input, in)
	}
	for _, name := range inputFields() {
		if _, there := out.Input[name]; !there {
			out.Input[name] = nil
		}
	}
	return out
}

// example returns an event with every field that an event may have.
func example(tool string, fields []string) *cardea.Event {
	input := map[string]any{}
	for _, name := range fields {
		input[name] = nil
	}
	if _, there := input["file_path"]; there {
		input["file_path"] = "x"
	}
	spot := []cardea.Opaque{{}}
	part := cardea.Part{
		ShellFacts:   cardea.ShellFacts{Argv: []cardea.Word{{}}, Assigns: []cardea.Assign{{}}, Opaque: spot},
		CommandFacts: cardea.CommandFacts{Options: []cardea.Option{{}}, Operands: []int{0}, Access: []cardea.Access{{Path: "x", Pattern: "x"}}},
	}
	return &cardea.Event{Kind: cardea.PreToolUse, Agent: "x", Faults: spot,
		Call: &cardea.Call{Tool: tool, Input: input, Parts: []cardea.Part{part}, Opaque: spot, Flows: []cardea.Flow{{}}}}
}

// inputFields returns the input fields that events have: Claude Code's, and Copilot CLI's
// in Claude Code's spelling.
func inputFields() []string {
	return strings.Fields(`hook_event_name session_id cwd permission_mode transcript_path prompt_id scratchpad_dir effort agent_id agent_type
tool_name tool_input tool_response tool_use_id mcp_server duration_ms error is_interrupt permission_suggestions reason prompt source model
seconds_since_last_response context_tokens prompt_cache_likely_expired estimated_cache_write_usd trigger custom_instructions compact_summary
message title notification_type stop_hook_active last_assistant_message background_tasks session_crons agent_transcript_path error_details
expansion_type command_name command_args command_source invoked_by task_id task_subject task_description teammate_name team_name tool_calls file_path
memory_type load_reason old_cwd new_cwd directory event name worktree_path from_model to_model requested_model prompt_cache_warm cache_ttl
pricing mcp_server_name mode requested_schema url action content turn_id message_id index final delta
timestamp initial_prompt agent_name agent_display_name agent_description response stop_reason transformed_prompt error_context recoverable
raw signals cardea`)
}
