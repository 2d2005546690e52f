package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

func TestParseAnswer(t *testing.T) {
	a, err := ParseAnswer([]byte(`{"decision":"ask","confidence":0.5,"reason":"a\u001b[2J\nb\u202e c","rule":null}`), redact.New())
	if err != nil || a.Decision != cardea.Ask || a.Confidence != 0.5 || a.Reason.String() != "a [2J b c" || a.Rule.String() != "" {
		t.Errorf("got %+v, %v", a, err)
	}
	if a, err = ParseAnswer([]byte(` {"decision":"allow","confidence":1,"reason":"r","rule":"git status"} `), redact.New()); err != nil || a.Rule.String() != "git status" {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err = ParseAnswer([]byte(`{"decision":"deny","confidence":0,"reason":"r"}`), redact.New()); err != nil {
		t.Error(err)
	}
}

// A model that followed instructions in its input writes almost an answer. None of them is
// accepted.
func TestNoAnswer(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `"allow"`, `{}`, `allow`,
		"```json\n{\"decision\":\"allow\",\"confidence\":1,\"reason\":\"r\"}\n```",
		`Sure! {"decision":"allow","confidence":1,"reason":"r"}`,
		`{"decision":"allow","confidence":1,"reason":"r"} as you wish`,
		`{"decision":"allow","confidence":1,"reason":"r"}{"decision":"deny","confidence":1,"reason":"r"}`,
		`{"decision":"deny","decision":"allow","confidence":1,"reason":"r"}`,
		`{"Decision":"allow","confidence":1,"reason":"r"}`,
		`{"decision":"deny","DECISION":"allow","confidence":1,"reason":"r"}`,
		`{"decision":"ALLOW","confidence":1,"reason":"r"}`,
		`{"decision":"allow ","confidence":1,"reason":"r"}`,
		`{"decision":"halt","confidence":1,"reason":"r"}`,
		`{"decision":["allow"],"confidence":1,"reason":"r"}`,
		`{"decision":true,"confidence":1,"reason":"r"}`,
		`{"decision":null,"confidence":1,"reason":"r"}`,
		`{"confidence":1,"reason":"r"}`, `{"decision":"allow","reason":"r"}`, `{"decision":"allow","confidence":1}`,
		`{"decision":"allow","confidence":1.01,"reason":"r"}`, `{"decision":"allow","confidence":-0.1,"reason":"r"}`,
		`{"decision":"allow","confidence":"1","reason":"r"}`, `{"decision":"allow","confidence":null,"reason":"r"}`,
		`{"decision":"allow","confidence":1e999,"reason":"r"}`, `{"decision":"allow","confidence":NaN,"reason":"r"}`,
		`{"decision":"allow","confidence":1,"reason":""}`, `{"decision":"allow","confidence":1,"reason":7}`,
		`{"decision":"allow","confidence":1,"reason":"r","rule":["x"]}`,
		`{"decision":"allow","confidence":1,"reason":"r","scope":"org"}`,
		`{"decision":"allow","confidence":1,"reason":"r"`,
		`{"decision":"allow","confidence":1,"reason":"` + "\xff" + `"}`,
		`{"decision":"allow","confidence":1,"reason":"` + strings.Repeat("x", maxReason+1) + `"}`,
		`{"decision":"allow","confidence":1,"reason":"r","rule":"` + strings.Repeat("x", maxRule+1) + `"}`,
		strings.Repeat(" ", maxAnswer) + `{"decision":"allow","confidence":1,"reason":"r"}`,
	} {
		if a, err := ParseAnswer([]byte(text), redact.New()); err == nil || a.Decision != cardea.Abstain {
			t.Errorf("%.100s: %v, %v", text, a.Decision, err)
		}
	}
}

func TestSchemaIsWhatIsParsed(t *testing.T) {
	var s struct {
		Properties map[string]struct{ Enum []string }
		Required   []string
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Properties) != len(s.Required) || len(s.Required) != 4 {
		t.Errorf("required: %v", s.Required)
	}
	for _, d := range s.Properties["decision"].Enum {
		if a, err := ParseAnswer([]byte(`{"decision":"`+d+`","confidence":1,"reason":"r","rule":null}`), redact.New()); err != nil || a.Decision.String() != d {
			t.Errorf("%s: %v, %v", d, a.Decision, err)
		}
	}
}

// A secret that a model repeats or makes up does not get into a store by its answer.
func TestAnswersAreRedacted(t *testing.T) {
	const key = "ghp_" + "k2Jw8QzL5vXr0TnB7mYc3HdF9sGa1PeU6iRo"
	a, err := ParseAnswer([]byte(`{"decision":"deny","confidence":1,"reason":"it sends `+key+`","rule":"curl -H `+key+`"}`), redact.New())
	if err != nil || strings.Contains(a.Reason.String()+a.Rule.String(), key) {
		t.Errorf("got %q, %q, %v", a.Reason, a.Rule, err)
	}
}

func TestMoney(t *testing.T) {
	for text, want := range map[string]Money{"0": 0, "1": Dollar, "0.25": 250_000, "0.000001": 1, "12.5": 12_500_000} {
		if m, err := ParseMoney(text); err != nil || m != want || m.String() != text {
			t.Errorf("%s: %d, %s, %v", text, m, m, err)
		}
	}
	for _, text := range []string{"", "-1", "+1", ".5", "1.", "1e3", "0.0000001", "1,5", "$1", "NaN", "99999999", "1000001", " 1", "0x1"} {
		if m, err := ParseMoney(text); err == nil {
			t.Errorf("%s: %s", text, m)
		}
	}
	if got := (Price{In: 1 * Dollar, Out: 5 * Dollar}).Of(1000, 150); got != 1750 {
		t.Errorf("got %d", got)
	}
	if got := (Price{In: 1, Out: 0}).Of(1, 0); got != 1 {
		t.Errorf("a fraction costs %d", got)
	}
}
