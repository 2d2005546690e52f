package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/base/diagnostic"
)

func TestMoments(t *testing.T) {
	zone := time.FixedZone("there", 2*60*60)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"":                     {},
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, zone),
		"2026-11-01 15:04":     time.Date(2026, 11, 1, 15, 4, 0, 0, zone),
		"2026-11-01 15:04:05":  time.Date(2026, 11, 1, 15, 4, 5, 0, zone),
		"2026-11-01T15:04":     time.Date(2026, 11, 1, 15, 4, 0, 0, zone),
		"2026-11-01T15:04:05Z": time.Date(2026, 11, 1, 15, 4, 5, 0, time.UTC),
		"90m":                  now.Add(-90 * time.Minute),
		"7d":                   now.AddDate(0, 0, -7),
		"today":                time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone),
		"yesterday":            time.Date(now.Year(), now.Month(), now.Day()-1, 0, 0, 0, 0, zone),
		"0d":                   now,
	} {
		if got, err := parseTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"tomorrow", "-2h", "-1d", "d", "1.5d", "2026-13-01", "99999999d", "2026-11-01T15:04:05Zx"} {
		if got, err := parseTime(text, now); err == nil || !strings.Contains(err.Error(), "write a date") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestSearchFilters(t *testing.T) {
	d := newFixture(t)
	for _, command := range []string{"make lint", "git push --force", "$x"} {
		d.run(d.call("PreToolUse", "default", command), "check", "--harness", "claude-code")
	}
	write := strings.Replace(d.call("PreToolUse", "default", "x"), `"tool_name":"Bash","tool_input":{"command":"x"}`, `"tool_name":"Write","tool_input":{"file_path":"/tmp/notes.md","content":"Lint"}`, 1)
	d.run(strings.Replace(write, `"s1"`, `"s2"`, 1), "check", "--harness", "claude-code")
	const all = "notes.md|$x|push --force|make lint"
	for args, want := range map[string]string{
		"":                              all,
		"LINT":                          "make lint",
		"--effect deny":                 "push --force",
		"--effect deny,abstain":         "notes.md|push --force|make lint",
		"--effect deny --effect defer":  "$x|push --force",
		"--tool write":                  "notes.md",
		"--tool bash --limit 1":         "$x",
		"--limit 0":                     all,
		"--rule git-force-push":         "push --force",
		"--rule rules:git-force-push":   "push --force",
		"--decider opaque":              "$x",
		"--session s2":                  "notes.md",
		"--since 1h":                    all,
		"--until 1h":                    "",
		"--since 2020-01-01 --until 1d": "",
		"nowhere":                       "",
	} {
		out, errs, code := d.run("", append([]string{"audit", "search"}, strings.Fields(args)...)...)
		asJSON, _, codeJSON := d.run("", append([]string{"audit", "search", "--json"}, strings.Fields(args)...)...)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		wants := strings.Split(want, "|")
		if code != exitOK || codeJSON != exitOK || len(lines) != len(wants) || strings.Count(asJSON, "\n") != strings.Count(out, "\n") {
			t.Errorf("%s: exit %d, %d\n%s%s", args, code, codeJSON, out, asJSON)
			continue
		}
		for i := range wants {
			if !strings.Contains(lines[i], wants[i]) {
				t.Errorf("%s: line %d is %q, want %q", args, i, lines[i], wants[i])
			}
		}
		if (want == "") != strings.Contains(errs, "nothing in the ledger answers") {
			t.Errorf("%s: told %q", args, errs)
		}
	}
	for args, want := range map[string]string{
		"--effect maybe":        "maybe",
		"--since never":         "no moment",
		"--until never":         "no moment",
		"--limit -1":            "negative",
		"--since 1h --until 2h": "nothing can be found",
		"one two":               "only one argument",
		"--since 2026-11-01 --until 2026-11-01 x": "nothing can be found",
	} {
		if _, errs, code := d.run("", append([]string{"audit", "search"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(errs, want) ||
			!strings.Contains(errs, "cardea audit search --help") {
			t.Errorf("%s: exit %d, %q", args, code, errs)
		}
	}
}

// An agent's text reaches the terminal only in a safe form.
func TestTheLedgerIsShownPlain(t *testing.T) {
	d := newFixture(t)
	d.run(d.call("PreToolUse", "default", "echo '\x1b[2J\u202egnp' # x"), "check", "--harness", "claude-code")
	id := d.stored()[0]["id"].(string)
	for _, args := range [][]string{{"audit", "search"}, {"explain", id}} {
		out, errs, code := d.run("", args...)
		if code != exitOK || errs != "" || strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, `\u001b[2J\u202egnp`) {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errs)
		}
	}
}

func TestExplain(t *testing.T) {
	d := newFixture(t)
	d.run(d.call("PreToolUse", "default", "git add . && git push --force"), "check", "--harness", "claude-code")
	id := d.stored()[0]["id"].(string)
	out, _, code := d.run("", "explain", "--json", id)
	var e struct {
		ID, Effect, By string
		Genuine        bool
		N              int
		Parts          []struct{ Effect string }
	}
	if err := json.Unmarshal([]byte(out), &e); err != nil || code != exitOK || e.ID != id || e.Effect != "deny" || !e.Genuine || e.N != 1 || len(e.Parts) != 2 || e.Parts[1].Effect != "deny" {
		t.Errorf("exit %d, %s, %v", code, out, err)
	}
	for name, want := range map[string]string{"7": "cardea audit search", "../../key": "no id", strings.Repeat("0", 16): "no such entry"} {
		if out, errs, code := d.run("", "explain", name); code != exitError || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q, %q", name, code, out, errs)
		}
	}
}

// Without records, the commands say so and write nothing. Lines whose key is gone are not
// genuine.
func TestLedgerWithoutKey(t *testing.T) {
	d := newFixture(t)
	if out, errs, code := d.run("", "audit", "verify"); code != exitOK || out != "the ledger is empty\nintact\n" || errs != "" {
		t.Errorf("empty: exit %d, %q, %q", code, out, errs)
	}
	if out, errs, code := d.run("", "audit", "search"); code != exitOK || out != "" || !strings.Contains(errs, "nothing") {
		t.Errorf("empty: exit %d, %q, %q", code, out, errs)
	}
	if _, err := os.Stat(d.state()); err == nil {
		t.Error("looking at the ledger makes a state folder")
	}
	d.run(d.call("PreToolUse", "default", "make"), "check", "--harness", "claude-code")
	if err := os.Remove(filepath.Join(d.state(), "key")); err != nil {
		t.Fatal(err)
	}
	out, _, code := d.run("", "audit", "verify", "--json")
	var r struct {
		Intact      bool
		Diagnostics []diagnostic.Diagnostic
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitError || r.Intact || len(r.Diagnostics) == 0 {
		t.Errorf("without the key: exit %d, %s, %v", code, out, err)
	}
	if out, _, code := d.run("", "audit", "search"); code != exitOK || !strings.Contains(out, "not as the ledger wrote it") {
		t.Errorf("without the key: exit %d, %q", code, out)
	}
	d.write(filepath.Join(d.state(), "key"), "short")
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "search"}, {"explain", "1m7yp8198z659sn1"}} {
		if _, errs, code := d.run("", args...); code != exitError || !strings.Contains(errs, "remove it") {
			t.Errorf("%v with a damaged key: exit %d, %q", args, code, errs)
		}
	}
}

// Unreadable lines are reported, and the rest is shown.
func TestSearchInDamage(t *testing.T) {
	d := newFixture(t)
	d.run(d.call("PreToolUse", "default", "make"), "check", "--harness", "claude-code")
	day := time.Now().UTC().Format("2006-01-02") + ".jsonl"
	path := filepath.Join(d.state(), "ledger", day)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d.write(path, "{\n"+string(data))
	for _, flag := range []string{"--limit=9", "--json"} {
		out, errs, code := d.run("", "audit", "search", flag)
		if code != exitError || strings.Count(out, "\n") != 1 || !strings.Contains(errs, "cannot be read") {
			t.Errorf("%s: exit %d, %q, %q", flag, code, out, errs)
		}
	}
}
