package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/internal/testing/testrun"
)

// holeSetup holds the files in the home folder and the project of a row.
type holeSetup struct {
	ClaudeSettings json.RawMessage   `json:"claude_settings"`
	CardeaYAML     string            `json:"cardea_yaml"`
	Roles          string            `json:"roles"`
	Files          map[string]string `json:"files"`
	Mode           string            `json:"mode"`
	// Run is a line for bash that runs in the project, after everything is committed.
	Run string `json:"run"`
}

// hole is an input that once got a wrong answer, with the right one.
type hole struct {
	kind, setup, tool, input, want string
}

// TestHoles asks the built programs about inputs that once got a wrong answer, and about
// similar harmless ones.
func TestHoles(t *testing.T) {
	setups := map[string]holeSetup{}
	read := func(data []byte, into any) {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	named := func(data []byte) {
		var all map[string]json.RawMessage
		var files map[string]string
		read(data, &all)
		read(all["files"], &files)
		for name, text := range all {
			if s := (holeSetup{}); name != "files" {
				if read(text, &s); s.Files == nil {
					s.Files = files
				}
				setups[name] = s
			}
		}
	}
	own := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("../../testdata/holes", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	named(own("setups.json"))
	rows := append(holeRows(own("rows.tsv")), holeRows(own("everyday.tsv"))...)
	if sharedtest.Available(t) {
		named(sharedtest.Read(t, "corpus", "attacks-setup.json"))
		rows = append(rows, holeRows(sharedtest.Read(t, "corpus", "attacks.tsv"))...)
		rows = append(rows, holeRows(sharedtest.Read(t, "corpus", "wrong-answers.tsv"))...)
	}
	places := map[string]*wall{}
	for _, h := range rows {
		s, ok := setups[h.setup]
		if !ok {
			read([]byte(h.setup), &s)
		}
		if places[h.setup] == nil {
			places[h.setup] = holePlace(t, s)
		}
		got := places[h.setup].hook(s.Mode, h.tool, h.input)
		for again := 0; got == "silent" && h.want == "allow" && again < 4; again++ { // on a busy machine, git may take longer than the hook waits
			got = places[h.setup].hook(s.Mode, h.tool, h.input)
		}
		if !right(h.want, got) {
			t.Errorf("%s, %s: %s %s: %s, want %s", h.kind, h.setup, h.tool, h.input, got, h.want)
		}
	}
	t.Logf("%d rows", len(rows))
}

// holeRows parses rows of five columns (kind, set-up, tool, input, answer), or of four for
// the tool Bash.
func holeRows(data []byte) (rows []hole) {
	for line := range strings.Lines(string(data)) {
		cols := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(cols) < 4 {
			continue
		}
		if len(cols) == 4 {
			cols = []string{cols[0], cols[1], "Bash", cols[2], cols[3]}
		}
		h := hole{kind: cols[0], setup: cols[1], tool: cols[2], input: cols[3], want: cols[4]}
		if h.tool == "Bash" {
			h.input = sharedtest.Unescape(h.input)
		}
		rows = append(rows, h)
	}
	return rows
}

// right reports whether an answer is one that a row wants.
func right(want, got string) bool {
	switch want {
	case "notallow":
		return got != "allow"
	case "stopped":
		return shut(got)
	case "notstopped":
		return !shut(got)
	case "notdeny":
		return got != "deny"
	}
	return got == want
}

// holePlace returns a home folder with a project, whose files are committed.
func holePlace(t *testing.T, s holeSetup) *wall {
	t.Helper()
	home, err := os.MkdirTemp(testrun.OnDisk(t), "holes")
	if err != nil {
		t.Fatal(err)
	}
	w := &wall{t: t, home: home, app: filepath.Join(home, "app")}
	files := map[string]string{"app/README.md": "hello\n"}
	for name, text := range s.Files {
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			files[below] = text
		} else {
			files["app/"+name] = text
		}
	}
	if len(s.ClaudeSettings) > 0 {
		files[".claude/settings.json"] = string(s.ClaudeSettings)
	}
	if s.CardeaYAML != "" {
		files[".config/cardea/cardea.yaml"] = s.CardeaYAML
	}
	if s.Roles != "" {
		files[".config/cardea/roles.yaml"] = s.Roles
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o700)
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = errors.Join(os.Remove(path), os.Symlink(to, path))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.email=a@b", "-c", "user.name=n", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.app
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	if s.Run != "" {
		cmd := exec.Command("bash", "-e", "-c", s.Run)
		cmd.Dir = w.app
		cmd.Env = append(os.Environ(), "HOME="+home, "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", s.Run, err, out)
		}
	}
	return w
}

// hook returns the answer of the built hook, "silent" for none.
func (w *wall) hook(mode, tool, input string) string {
	w.t.Helper()
	effect, _ := w.answer(mode, tool, input)
	return effect
}

// answer returns the hook's answer and the reason for the model.
func (w *wall) answer(mode, tool, input string) (effect, reason string) {
	w.t.Helper()
	if err := build(); err != nil {
		w.t.Fatal(err)
	}
	fields := json.RawMessage(input)
	if tool == "Bash" {
		fields, _ = json.Marshal(map[string]string{"command": input})
	}
	if mode == "" {
		mode = "default"
	}
	message, err := json.Marshal(map[string]any{"session_id": "s", "transcript_path": "/t", "cwd": w.app, "permission_mode": mode,
		"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": fields})
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(builtIn, "cardea"), "check", "--harness", "claude-code")
	cmd.Dir, cmd.Stdin = w.app, bytes.NewReader(message)
	cmd.Env = []string{"CLAUDE_PROJECT_DIR=" + w.app}
	for name, value := range w.env() {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s %s: %v", tool, input, err)
	}
	var answer struct {
		HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason string }
	}
	if len(out) > 0 && json.Unmarshal(out, &answer) != nil {
		w.t.Fatalf("%s %s: %s", tool, input, out)
	}
	said := answer.HookSpecificOutput
	return cmp.Or(said.PermissionDecision, "silent"), said.PermissionDecisionReason
}
