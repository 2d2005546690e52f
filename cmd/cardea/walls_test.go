package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/testrun"
)

// TestWalls puts guarded files and folders into realistic lines of many programs, and
// asks the program as it is built, with a harness that allows everything: none of
// them may be allowed, and none may be silent where permissions are bypassed.
func TestWalls(t *testing.T) {
	home, err := os.MkdirTemp(testrun.OnDisk(t), "walls")
	if err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(home, "app")
	everything := `{"permissions":{"allow":["Bash","Write","Edit","Read","mcp__x"]}}`
	for path, text := range map[string]string{
		"app/.git/HEAD": "", "app/.claude/hooks/pre.sh": "", "app/src/x": "", ".config/cardea/cardea.yaml": "permissions: {expand: true}\n",
		"app/.claude/settings.json": everything, ".claude/settings.json": everything, "app/.cardea/cardea.yaml": "version: 1\n",
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(home, "bin", "program")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	try := func(mode, line string) string {
		cmd := exec.Command(program, "try", "--json", "--mode", mode, "--", line)
		cmd.Dir, cmd.Env = app, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var v struct{ Effect string }
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatal(err)
		}
		return v.Effect
	}
	for n, line := range wallLines(t) {
		if !testrun.Long() && n%4 != 0 {
			continue
		}
		files, folders := []string{".claude/settings.json", home + "/.config/cardea/cardea.yaml"}, []string{".claude", home + "/.config/cardea"}
		named := strings.NewReplacer("{G}", files[n%2], "{D}", folders[n%2], "{A}", home+"/.config").Replace
		if !strings.Contains(line, "{") {
			t.Errorf("%q names nothing", line)
		}
		for _, mode := range []string{"default", "bypassPermissions"} {
			if got := try(mode, named(line)); got != "ask" && got != "deny" && got != "halt" {
				t.Errorf("%s, mode %s: %s", got, mode, fmt.Sprintf("%q", named(line)))
			}
		}
	}
}

// wallLines are the lines of the table, here-documents as one.
func wallLines(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/walls/touch.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	open := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case open:
			out[len(out)-1] += "\n" + line
			open = line != "E"
		case line == "" || strings.HasPrefix(line, "#"):
		default:
			out = append(out, line)
			open = strings.Contains(line, "<<")
		}
	}
	if len(out) < 300 {
		t.Fatalf("the table has %d lines", len(out))
	}
	return out
}
