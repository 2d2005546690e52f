package settings

import (
	"strings"
	"testing"

	"cardea.dev"
)

// TestNamesAndValues checks that the value typed for every key becomes YAML with the same
// meaning.
func TestNamesAndValues(t *testing.T) {
	for _, tt := range []struct {
		key, value, want string
	}{
		{"on_error", "deny", "deny"}, {"ledger.keep_days", "7", "7"}, {"permissions.expand", "true", "true"},
		{"policies.checks", "npm test|go vet ./...", `["npm test", "go vet ./..."]`}, {"policies.checks", "[a, b]", "[a, b]"}, {"policies.context", "a # b: c", `["a # b: c"]`},
		{"ledger.dir", "/a b", `"/a b"`}, {"org.source", "git@github.com:acme/x#y", `"git@github.com:acme/x#y"`},
		{"signals.branch", "{command: git branch}", "{command: git branch}"}, {"packs.git", "off", "off"}, {"rules.off", "a|b-*", `[a, "b-*"]`}, {"rules.effect.x", "ask", "ask"},
	} {
		name, err := FindName(tt.key)
		if err != nil {
			t.Errorf("%s: %v", tt.key, err)
			continue
		}
		got, err := name.Value(strings.Split(tt.value, "|"))
		if err != nil || got != tt.want || strings.Join(name.Path, ".") != tt.key {
			t.Errorf("%s: %s, %v, %v", tt.key, got, name.Path, err)
		}
		text, end := "", ""
		for _, p := range name.Path {
			text, end = text+"{"+p+": ", end+"}"
		}
		f := Parse("x", cardea.ScopeUser, []byte(text+got+end))
		if len(f.Problems) > 0 || len(f.Given) == 0 || !name.Of(f.Given[0]) {
			t.Errorf("%s: %v %+v", tt.key, f.Problems, f.Given)
		}
	}
	for _, k := range Keys() {
		if name, err := FindName(k.Name); err != nil || name.Default() == "" && k.Words == nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	for key, want := range map[string]string{"on_eror": `did you mean "on_error"?`, "default": "no key", "packs.": "no key", "": "no key", "rules.effect": "no key"} {
		if _, err := FindName(key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", key, err)
		}
	}
	name, _ := FindName("on_error")
	for _, words := range [][]string{{"deny\nx: 1"}, {"deny", "ask"}} {
		if _, err := name.Value(words); err == nil {
			t.Errorf("%q is taken", words)
		}
	}
}
