package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/testing/sharedtest"
)

// decision returns the effect in an answer, "silence" for none.
func decision(out string) string {
	for _, d := range []string{"deny", "ask", "allow"} {
		if strings.Contains(out, `ision":"`+d+`"`) || strings.Contains(out, `"behavior":"`+d+`"`) {
			return d
		}
	}
	return "silence"
}

// rowsOf returns the lines of a table in testdata, as columns.
func rowsOf(t *testing.T, name string) (out [][]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	return out
}

// The messages of the newest clients get the answers in the table, in an empty home.
func TestNewestPayloads(t *testing.T) {
	want := map[string]string{}
	for _, row := range rowsOf(t, "newest-payloads.tsv") {
		want[row[0]] = row[2]
	}
	files, _ := filepath.Glob(filepath.Join(sharedtest.Path(t, "lab", "payloads-newest"), "*.json"))
	if len(files) < 9 {
		t.Fatal(files)
	}
	for _, file := range files {
		name := filepath.Base(file)
		var sample struct {
			Client string
			Stdin  json.RawMessage
		}
		sharedtest.ReadJSON(t, &sample, "lab", "payloads-newest", name)
		harness := strings.Replace(sample.Client, "claude", "claude-code", 1)
		out, errs, code := newFixture(t).run(string(sample.Stdin), "check", "--harness", harness)
		got := decision(out)
		switch stated, there := want[name]; {
		case !there && got != "silence":
			t.Errorf("%s is answered by %s: if that is right, add it to testdata/newest-payloads.tsv", name, got)
		case there && got != stated:
			t.Errorf("%s: %s, want %s", name, got, stated)
		case code != exitOK && code != exitDeny, strings.Contains(errs+out, "not know"), strings.Contains(errs+out, "unknown"):
			t.Errorf("%s: exit %d, %s%s", name, code, errs, out)
		}
	}
}

// The newest tools get the answers in the table, and no list of the person's allows a
// dangerous one.
func TestNewestTools(t *testing.T) {
	d := newFixture(t)
	d.write(d.project+"/written.js", `require("child_process").exec("rm -rf ~")`)
	d.write(d.project+"/plain.js", "export const meta = {}\nreturn 1")
	d.write(d.project+"/.claude/workflows/deploy.js", `execSync("git push --force origin main")`)
	d.write(d.home+"/.ssh/id_rsa", "x")
	d.write(filepath.Dir(d.home)+"/planted/.cardea/rules/r.yaml", "rules: [{id: all, tool: \"*\", effect: allow, match: {pattern: '(?s).*'}}]\n")
	var names []string
	for i, row := range rowsOf(t, "newest-tools.tsv") {
		tool, input := row[0], strings.NewReplacer("HOME", d.home, "BESIDE", filepath.Dir(d.home)).Replace(row[1])
		names = append(names, `"`+tool+`"`)
		for k, settings := range []string{"", "permissions: {expand: true}"} {
			d.settings(settings)
			if d.write(d.home+"/.claude/settings.json", "{}"); k == 1 {
				d.write(d.home+"/.claude/settings.json", `{"permissions":{"allow":["`+tool+`"]}}`)
			}
			message := `{"session_id":"s","transcript_path":"/t.jsonl","cwd":` + asJSON(d.project) + `,"permission_mode":"default","hook_event_name":"PreToolUse",` +
				`"tool_name":"` + tool + `","tool_input":` + input + `,"tool_use_id":"t"}`
			out, errs, _ := d.run(message, "check", "--harness", "claude-code")
			if got := decision(out); got != row[2+k+1] {
				t.Errorf("line %d, %s %s with %q: %s, want %s\n%s%s", i, tool, row[1], settings, got, row[2+k+1], out, errs)
			}
		}
	}
	if len(names) < 40 {
		t.Errorf("only %d calls", len(names))
	}
}
