package hook_test

import (
	"encoding/json"
	"testing"

	"cardea.dev/internal/hook"
)

// PlainJSON keeps all values and contains nothing that a terminal obeys.
func TestPlainJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\":\"b ä 日 <é>\"}\n":          "{\"a\":\"b ä 日 <é>\"}\n",
		"{\"a\":\"x\u202ey\u200b\u0085\"}": `{"a":"x\u202ey\u200b\u0085"}`,
		"{\"a\":\"\x7f\U000e0041\"}":       `{"a":"\u007f\udb40\udc41"}`,
	} {
		got := hook.PlainJSON([]byte(text))
		if string(got) != want {
			t.Errorf("%q: %s", text, got)
		}
		var before, after map[string]string
		if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal(got, &after) != nil || before["a"] != after["a"] {
			t.Errorf("%q: another value: %s", text, got)
		}
	}
}
