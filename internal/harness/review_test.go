package harness_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/testing/sharedtest"
)

// opened returns a message as a hook for a harness reads it.
func opened(t *testing.T, name string, raw []byte) *harness.Message {
	t.Helper()
	m, err := harness.Hook{Harness: name, Env: func(string) string { return "" }, Adapters: hook.Adapters()}.Open(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What the reviewers of harnesses say is read from the vendors' samples, and gets no answer.
func TestReviewsOfSamples(t *testing.T) {
	for _, c := range []struct {
		harness, folder, file, call, command string
		want                                 cardea.Review
	}{
		{"claude-code", "payloads", "claude-code/PermissionDenied-Bash.json", "toolu_01ABC123...", "rm -rf /tmp/build",
			cardea.Review{By: "classifier", Effect: cardea.Deny, Reason: "[Irreversible Local Destruction]"}},
		{"claude-code", "native-payloads", "claude-code/PermissionDenied-Bash-unavailable.json", "toolu_01", "terraform apply",
			cardea.Review{By: "classifier", Effect: cardea.Deny, Reason: "Classifier unavailable"}},
		{"claude-code", "payloads", "claude-code/Notification-permission_prompt.json", "", "",
			cardea.Review{By: "person", Effect: cardea.Ask, Reason: "Claude needs your permission"}},
		{"qwen-code", "native-payloads", "qwen-code/PermissionDenied-run_shell_command.json", "call_1", "rm -rf /",
			cardea.Review{By: "classifier", Effect: cardea.Deny, Reason: "classifier_blocked"}},
		{"", "native-payloads", "grok-build/PermissionDenied-run_terminal_command.json", "", "rm -rf /", cardea.Review{Effect: cardea.Deny}},
		{"", "native-payloads", "goose/PreToolUseResult-deny.json", "call_1", "sudo ls", cardea.Review{By: "cardea", Effect: cardea.Deny, Reason: "policy_denial: no"}},
		{"copilot-cli", "payloads", "copilot-cli/camel-notification.json", "", "", cardea.Review{By: "person", Effect: cardea.Ask, Reason: "The agent requests permission"}},
		{"factory-droid", "payloads", "factory-droid/Notification.json", "", "", cardea.Review{By: "person", Effect: cardea.Ask, Reason: "Droid needs permission"}},
	} {
		m := opened(t, c.harness, sharedtest.Read(t, c.folder, c.file))
		ev := m.Event
		command := ""
		if ev.Call != nil {
			command, _ = ev.Call.Input["command"].(string)
		}
		if ev.Review == nil || *ev.Review != c.want || ev.CallID != c.call || command != c.command || ev.Kind.Answered() {
			t.Errorf("%s: %+v, %q, %q, %s", c.file, ev.Review, ev.CallID, command, ev.Kind)
		}
		if out := m.Write(ev, cardea.Express(cardea.Verdict{}, m.Capabilities(), ev)); len(out.Stdout) > 0 || out.Exit != 0 {
			t.Errorf("%s is answered: %+v", c.file, out)
		}
	}
}

// Messages that no sample exists for, and odd ones.
func TestReviews(t *testing.T) {
	for text, want := range map[string]*cardea.Review{
		`{"hook_event_name":"PermissionResult","client_type":"kimi_code_cli","session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls"},"decision":"approved"}`: {
			By:     "person",
			Effect: cardea.Allow,
		},
		`{"hook_event_name":"PermissionResult","client_type":"kimi_code_cli","session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls"},"result":"Rejected"}`: {
			By:     "person",
			Effect: cardea.Deny,
		},
		`{"hook_event_name":"PermissionResult","client_type":"kimi_code_cli","tool_name":"Bash","tool_input":{"command":"ls"},"decision":{"x":1}}`: {
			By: "person",
		},
		`{"hook_event_name":"pre_approval_request","tool_name":null,"tool_input":null,"session_id":"s","cwd":"/p","extra":{"command":"rm -rf x","description":"deletes"}}`: {
			By:     "person",
			Effect: cardea.Ask,
			Reason: "deletes",
		},
		`{"hook_event_name":"post_approval_response","session_id":"s","cwd":"/p","extra":{"command":"rm -rf x","description":"deletes","choice":"deny"}}`: {
			By:     "person",
			Effect: cardea.Deny,
			Reason: "deletes",
		},
		`{"hook_event_name":"post_approval_response","session_id":"s","cwd":"/p","extra":{"command":"rm -rf x","choice":"session"}}`: {
			By:     "person",
			Effect: cardea.Allow,
		},
		`{"hook_event_name":"post_approval_response","session_id":"s","cwd":"/p","extra":[1]}`: {
			By: "person",
		},
		`{"event":"PreToolUseResult","session_id":"s","tool_name":"developer__shell","tool_input":{"command":"ls"},"working_dir":"/p","decision":"allow"}`: {
			By:     "harness",
			Effect: cardea.Allow,
		},
		`{"event":"PreToolUseResult","session_id":"s","tool_name":"developer__shell","tool_input":{"command":"ls"},"working_dir":"/p","decision":"deny","blocked_by":"other","cause":"hook_failure"}`: {
			By:     "hook",
			Effect: cardea.Deny,
			Reason: "hook_failure: ",
		},
		`{"hook_event_name":"Notification","session_id":"s","transcript_path":"/t","cwd":"/p","notification_type":"idle_prompt","message":"x"}`: nil,
		`{"hook_event_name":"PermissionDenied","session_id":"s","transcript_path":"/t","cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls"},"reason":7}`: {
			By:     "classifier",
			Effect: cardea.Deny,
		},
		`{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"/t","cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls"},"reason":"PermissionDenied"}`: nil,
	} {
		m := opened(t, "", []byte(text))
		if got := m.Event.Review; (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v", text, got)
		}
		// Whatever a policy says about the event, the call is over, and no answer has it tried again.
		out := m.Write(m.Event, cardea.Express(cardea.Verdict{Effect: cardea.Deny}, m.Capabilities(), m.Event))
		if m.Event.Review != nil && (bytes.Contains(out.Stdout, []byte("hookSpecificOutput")) || m.Event.Kind.Answered()) {
			t.Errorf("%s is answered: %s", text, out.Stdout)
		}
		if strings.Contains(text, `"description"`) && (m.Event.Call == nil || m.Event.Call.Input["command"] != "rm -rf x" || m.Event.Call.Tool != "Bash") {
			t.Errorf("%s: %+v", text, m.Event.Call)
		}
	}
}

// What Claude Code 2.1.332 sent in the lab: blocked with the classifier's words, no classifier, and
// an answer of the classifier that could not be read.
func TestReviewsOfTheClient(t *testing.T) {
	data, err := os.ReadFile("testdata/claude-code-2.1.332-PermissionDenied.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	reasons := []string{"Deploys to production, and the user did not ask for it", "Classifier unavailable",
		"Auto mode could not evaluate this action and is blocking it for safety — run with --debug for details"}
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		ev := opened(t, "claude-code", line).Event
		if ev.Review == nil || *ev.Review != (cardea.Review{By: "classifier", Effect: cardea.Deny, Reason: reasons[i]}) || ev.CallID == "" || ev.Call.Tool != "Bash" || len(ev.Faults) > 0 {
			t.Errorf("%d: %+v", i, ev)
		}
	}
}

// A call of goose is refused in the way that goose reads, and not in the form of Crush.
func TestGooseIsNoCrush(t *testing.T) {
	m := opened(t, "", sharedtest.Read(t, "native-payloads", "goose/PreToolUse-developer__shell.json"))
	if m.Sender != "goose" || m.Event.Call.Tool != "Bash" || m.Event.Cwd != "/srv/app" {
		t.Errorf("%q: %+v", m.Sender, m.Event)
	}
	if out := m.Write(m.Event, cardea.Express(cardea.Verdict{Effect: cardea.Deny, Reason: "no"}, m.Capabilities(), m.Event)); out.Exit != 2 || len(out.Stderr) == 0 {
		t.Errorf("%+v", out)
	}
}
