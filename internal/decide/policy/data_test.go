package policy

import (
	"strings"
	"testing"
	"time"
)

// The index has the paths that a document defines. A change of the document applies at the
// next call, in a process that stays and in a new one.
func TestDataInTheIndex(t *testing.T) {
	words := func(pkg, path string) string {
		return "# METADATA\n# scope: package\n# custom:\n#   routing:\n" + events("[PreToolUse]") + "package cardea.policies." + pkg +
			"\n\ndeny contains {\"rule_id\": \"" + pkg + "\", \"reason\": \"no\"} if input.tool_input.command in data." + path + "\n"
	}
	p := newPlace(t, map[string]string{"a.rego": words("a", "a.words"), "top.rego": words("top", "top"), "other.rego": routed("other", events("[Stop]")),
		"a/data.yaml": "words: [x]\n", "data.json": "{\"top\": [\"y\"], \"big\\tkey\": 1}"})
	cache := &memory{}
	p.lib.Cache = cache
	check := func(command, want, why string) {
		t.Helper()
		for _, lib := range []*Library{p.lib, {Tool: wordsOf, Cache: cache, Engines: here()}} {
			was := p.lib
			p.lib = lib
			got, err := p.decide(bash(command))
			p.lib = was
			if got != want || why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
				t.Errorf("%s: %q, %v", command, got, err)
			}
		}
	}
	check("x", "deny:a", "")
	time.Sleep(2 * settle)
	check("x", "deny:a", "")
	check("y", "deny:top", "")
	p.write("a/data.yaml", "words: [z]\n")
	check("x", "", "")
	check("z", "deny:a", "")
	p.write("a/data.yaml", "words: [")
	check("y", "deny:top", "a/data.yaml:1:1: not valid YAML")
	time.Sleep(2 * settle)
	check("y", "deny:top", "a/data.yaml:1:1: not valid YAML")
	p.write("a/data.yaml", "words: [z]\n")
	p.write("top/data.json", "[1]")
	check("z", "deny:a", "data.top is also defined in") // every policy that refers to either asks
}
