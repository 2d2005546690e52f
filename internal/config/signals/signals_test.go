package signals

import (
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// TestScriptsSeeNoSecrets checks that the event for scripts has no secret, in any field.
func TestScriptsSeeNoSecrets(t *testing.T) {
	ev := &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "Bash", Input: map[string]any{
		"command": "curl -H 'Authorization: Bearer abcdefghijklmnop1234567890'", "password": "Tr0ub4dor&3xyz", "n": 1, "list": []any{"plain"}}}}
	text := string((&Runner{Redact: redact.New().Show}).event(ev))
	if strings.Contains(text, "abcdefghijklmnop") || strings.Contains(text, "Tr0ub4dor") || !strings.Contains(text, "plain") || !strings.Contains(text, `"n":1`) {
		t.Errorf("%s", text)
	}
	ev.Call.Input["content"] = strings.Repeat("x y ", 5<<20)
	begin := time.Now()
	if text := string((&Runner{Redact: redact.New().Show}).event(ev)); len(text) > 2*maxShown || !strings.Contains(text, "(cut)") || time.Since(begin) > 10*time.Second {
		t.Errorf("%d bytes after %s", len(text), time.Since(begin))
	}
	if text := string((&Runner{}).event(ev)); strings.Contains(text, "curl") {
		t.Errorf("without a redactor: %s", text)
	}
}
