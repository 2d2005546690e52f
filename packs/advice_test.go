package packs_test

import (
	"regexp"
	"testing"

	"cardea.dev/packs"
)

// The messages of built-in rules reach the model. They do not explain how to switch the
// rule off.
func TestMessagesGiveNoAdvice(t *testing.T) {
	advice := regexp.MustCompile(`(?i)\bdisable|\boverride|\b(rules|packs): ?(\{|off)|\{off|: off\b|\bcardea (trust|config|accept|uninstall|permissions)|\bon_error\b|trust (it|this|the project)`)
	n := 0
	for _, r := range packs.Rules() {
		for _, text := range []string{r.Message, r.Instead, r.Context} {
			if n++; advice.MatchString(text) {
				t.Errorf("%s: %s", r.ID, text)
			}
		}
	}
	for _, r := range packs.Roles().Roles {
		if n++; advice.MatchString(r.Description) {
			t.Errorf("%s: %s", r.Name, r.Description)
		}
	}
	if n < 300 {
		t.Errorf("only %d texts", n)
	}
}
