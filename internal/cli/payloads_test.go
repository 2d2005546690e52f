package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/testing/sharedtest"
)

// documented holds the documented answers, from the vendors' pages and not from the
// renderers. R is the placeholder for the reason.
var documented = map[string]map[cardea.Effect]string{
	"claude-code PreToolUse": {
		cardea.Deny:  `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}`,
		cardea.Ask:   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"R"}}`,
		cardea.Allow: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"R"}}`,
		cardea.Halt:  `{"continue":false,"stopReason":"R","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}`,
	},
	"claude-code PermissionRequest": {
		cardea.Deny:  `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"R","interrupt":false}}}`,
		cardea.Allow: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`,
		cardea.Halt:  `{"continue":false,"stopReason":"R","hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"R","interrupt":true}}}`,
	},
	"copilot-cli PreToolUse": {
		cardea.Deny:  `{"permissionDecision":"deny","permissionDecisionReason":"R"}`,
		cardea.Ask:   `{"permissionDecision":"ask","permissionDecisionReason":"R"}`,
		cardea.Allow: `{"permissionDecision":"allow","permissionDecisionReason":"R"}`,
		cardea.Halt:  `{"permissionDecision":"deny","permissionDecisionReason":"R"}`,
	},
	"copilot-cli PermissionRequest": {
		cardea.Deny:  `{"behavior":"deny","message":"R","interrupt":false}`,
		cardea.Allow: `{"behavior":"allow"}`,
		cardea.Halt:  `{"behavior":"deny","message":"R","interrupt":true}`,
	},
}

// kindOf returns the event after which a payload's file is named.
func kindOf(file string) string {
	name := strings.ToLower(filepath.Base(file))
	switch {
	case strings.Contains(name, "pretooluse"):
		return "PreToolUse"
	case strings.Contains(name, "permissionrequest"):
		return "PermissionRequest"
	}
	return ""
}

func payloads(t *testing.T, harness string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "payloads", harness), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads of %s: %v", harness, err)
	}
	return files
}

// Every known message gets silence or the answer of a built-in rule. With a rule that
// forces an effect it gets the documented answer.
func TestPayloads(t *testing.T) {
	allowed := map[string]int{}
	for _, harness := range []string{"claude-code", "copilot-cli"} {
		for _, file := range payloads(t, harness) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kind := kindOf(file)
			d := newFixture(t)
			base, errs, code := d.run(string(raw), "check", "--harness", harness)
			oneObject(t, base, errs, code)
			if kind == "" && (base != "" || code != exitOK) {
				t.Errorf("%s: an event that is not answered gets %q, exit %d", file, base, code)
			}
			d.settings("packs: {readonly: off}") // it allows some of the calls
			base, _, _ = d.run(string(raw), "check", "--harness", harness)
			base = said.ReplaceAllString(base, "")
			for _, e := range cardea.Effects() {
				out := d.forced(string(raw), harness, kind, e)
				if e == cardea.Allow && out != base {
					allowed[harness+" "+kind]++
				}
				checkForced(t, file, documented[harness+" "+kind][e], base, out, e)
			}
		}
	}
	for _, k := range []string{"claude-code PreToolUse", "claude-code PermissionRequest", "copilot-cli PreToolUse"} {
		if allowed[k] == 0 {
			t.Errorf("no payload of %s was allowed, so the form of an allow was never seen", k)
		}
	}
}

// said matches what Cardea adds to the rule's message: its name, the next step and the id.
var said = regexp.MustCompile(`"systemMessage":"Cardea: To see [^"]*",|Cardea: |(\\n(To see|The person can run)[^"]*\\n| )\(forced\)`)

// forced returns the answer with a rule that forces an effect for every tool.
func (d *fixture) forced(raw, harness, kind string, e cardea.Effect) string {
	d.t.Helper()
	more := ""
	switch e {
	case cardea.Abstain:
		more = ", instead: nothing"
	case cardea.Allow:
		// The language refuses a rule that only allows everything.
		more = ", match: {pattern: '(?s).*'}"
	}
	event := kind
	if event == "" {
		event = "PreToolUse"
	}
	d.rules(`rules: [{id: forced, tool: "*", event: ` + event + `, effect: ` + e.String() + `, message: R` + more + `}]`)
	out, errs, code := d.run(raw, "check", "--harness", harness)
	oneObject(d.t, out, errs, code)
	return said.ReplaceAllString(out, "")
}

func checkForced(t *testing.T, file, want, base, out string, e cardea.Effect) {
	t.Helper()
	switch {
	case e == cardea.Allow:
		// An opaque or protected call, or a question to the person, is not allowed. Nothing
		// changes then.
		if out != base && !sameJSON(out, want) {
			t.Errorf("%s, allow: %s, want %s", file, out, want)
		}
	case base != "":
		// A built-in rule also matches, and the stricter of the two applies.
		if e == cardea.Halt && !strings.Contains(out, "deny") {
			t.Errorf("%s, halt: %s", file, out)
		}
	case want == "" && out != "":
		t.Errorf("%s, %s: %s, want silence", file, e, out)
	case want != "" && !sameJSON(out, want):
		t.Errorf("%s, %s: %s, want %s", file, e, out, want)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
