package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const seesAll = `# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_signals: [seen]
package cardea.policies.sees

import rego.v1

deny contains {"rule_id": "S", "reason": "cut"} if input.signals.seen == true
`

// No secret of a call reaches a signal, in a word of a part, an option's value, or an
// assignment.
func TestSignalsSeeNoSecrets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the shell's")
	}
	d := newFixture(t)
	seen := filepath.Join(d.home, "seen")
	d.settings("signals: {seen: {command: \"cat > " + seen + "\"}}")
	d.write(filepath.Join(d.home, ".config/cardea/policies/s.rego"), seesAll)
	for _, command := range []string{
		"PGPASSWORD=hunter2 psql",
		`foo --password="hunter2"`,
		"mysql -uroot -phunter2 db",
		"mysql --password hunter2",
		"curl -u bob:hunter2 https://x.y",
		"docker login -p hunter2 -u bob",
		"sshpass -p hunter2 ssh a@b",
		"foo --token=hunter2abcd --api-key hunter2abcd",
		"PASSWORD=hunter2; foo $PASSWORD",
		"echo hunter2 | docker login --password-stdin",
		"foo --password='hun'ter2",
		"git clone https://bob:hunter2@x.y/z",
		"PASSWORD=hunter2 bash -c 'foo $PASSWORD'",
	} {
		if err := os.RemoveAll(seen); err != nil {
			t.Fatal(err)
		}
		d.run(d.call("PreToolUse", "default", command), "check", "--harness", "claude-code")
		text, err := os.ReadFile(seen)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "REDACTED") || !strings.Contains(string(text), `"cut":false`) {
			t.Errorf("%s: %s", command, text)
		}
	}
	// A text that was cut is marked as cut.
	d.run(d.call("PreToolUse", "default", "echo "+strings.Repeat("word ", 20_000)), "check", "--harness", "claude-code")
	if text, _ := os.ReadFile(seen); !strings.Contains(string(text), `"cut":true`) || len(text) < 60_000 {
		t.Errorf("%d bytes", len(text))
	}
}
