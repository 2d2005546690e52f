//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardea.dev/internal/testing/testrun"
)

// placesRead are the paths that the hook reads, in the home folder (~) or the project. A
// deciding file is broken if it is not a regular file or folder.
var placesRead = []struct {
	place string
	// decides is set if an unreadable file leads to a question. Routes are advice, and the
	// settings of an untrusted project do not apply.
	decides bool
}{
	{"~/.config/cardea", true},
	{"~/.config/cardea/cardea.yaml", true},
	{"~/.config/cardea/rules", true},
	{"~/.config/cardea/rules/a.yaml", true},
	{"~/.config/cardea/policies", true},
	{"~/.config/cardea/policies/a.rego", true},
	{"~/.config/cardea/signals", false},
	{"~/.config/cardea/org/acme", true},
	{"~/.config/cardea/org/acme/cardea.yaml", true},
	{"~/.config/cardea/org/acme/rules", true},
	{"~/.config/cardea/org/acme/rules/a.yaml", true},
	{"~/.config/cardea/org/acme/policies", true},
	{".cardea", true},
	{".cardea/cardea.yaml", false},
	{".cardea/rules", true},
	{".cardea/rules/a.yaml", true},
	{".cardea/policies", true},
	{".cardea/policies/a.rego", true},
	{".cardea/signals", false},
	{".cardea/local", false},
	{".cardea/local/cardea.yaml", false},
	{".cardea/local/rules", false},
	{".claude/settings.json", true},
	{".claude/settings.local.json", true},
	{".claude/tool-routes.yaml", false},
	{"~/.claude/settings.json", true},
	{"~/.claude/plugins", false},
	{"~/.claude/plugins/installed_plugins.json", false},
	{"~/.claude/plugins/one/hooks/tool-routes.yaml", false},
	{"~/.augment/settings.json", true},
	{"~/.config/amp/settings.json", true},
	{"~/.config/opencode/opencode.json", true},
	{"~/.codex/rules", true},
	{"~/.gemini/policies", true},
	{"~/.qwen/settings.json", true},
	{".codex/rules", true},
	{".amp/settings.json", true},
	{".augment/settings.json", true},
	{".qwen/settings.json", true},
	{"opencode.json", true},
	{".git", false},
	{".git/config", false},
	{".git/index", false},
	{".git/info/exclude", false},
	{".gitignore", false},
	{"x.sh", false},
	{"Makefile", false},
	{"package.json", false},
	{"sub", false},
	{"~/.local/state/cardea", false},
	{"~/.local/state/cardea/key", false},
	{"~/.local/state/cardea/heartbeat", false},
	{"~/.local/state/cardea/heartbeat/claude-code", false},
	{"~/.local/state/cardea/lastgood", false},
	{"~/.local/state/cardea/lastgood/projects", false},
	{"~/.local/state/cardea/ledger", false},
	{"~/.local/state/cardea/ledger/head", false},
	{"~/.local/state/cardea/ledger/lock", false},
	{"~/.local/state/cardea/ledger/spool", false},
	{"~/.local/state/cardea/ledger/stub.json", false},
	{"~/.local/state/cardea/sessions", false},
	{"~/.local/state/cardea/trust", false},
	{"~/.local/state/cardea/actions", false},
	{"~/.local/state/cardea/install", false},
	{"~/.local/state/cardea/evidence", false},
	{"~/.local/state/cardea/posture", false},
	{"~/.cache/cardea", false},
	{"~/.cache/cardea/policies", false},
}

// unusualThings are unusual things instead of a file or folder.
var unusualThings = map[string]func(path string) error{
	"pipe":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"endless":       func(path string) error { return os.Symlink("/dev/zero", path) },
	"terminal":      func(path string) error { return os.Symlink("/dev/tty", path) },
	"dangling link": func(path string) error { return os.Symlink("nothing/here", path) },
	"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
	"pipe in a link": func(path string) error {
		if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
			return err
		}
		return os.Symlink(path+".pipe", path)
	},
}

// hangGuard is many times longer than any command here takes.
const hangGuard = 30 * time.Second

// at is a home folder and a project in it.
type at struct {
	t             *testing.T
	home, project string
}

func newPlace(t *testing.T) at {
	dir := t.TempDir()
	a := at{t, filepath.Join(dir, "home"), filepath.Join(dir, "app")}
	for _, d := range []string{a.home, filepath.Join(a.project, ".git")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a.write("~/.config/cardea/cardea.yaml", "version: 1\norg: {name: acme}\n")
	a.write("~/.config/cardea/org/acme/cardea.yaml", "version: 1\n")
	return a
}

func (a at) path(place string) string {
	if rest, ok := strings.CutPrefix(place, "~/"); ok {
		return filepath.Join(a.home, filepath.FromSlash(rest))
	}
	return filepath.Join(a.project, filepath.FromSlash(place))
}

func (a at) write(place, text string) {
	a.t.Helper()
	path := a.path(place)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// replace replaces a path by something else.
func (a at) replace(place string, put func(string) error) {
	a.t.Helper()
	path := a.path(place)
	if err := os.RemoveAll(path); err != nil {
		a.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := put(path); err != nil {
		a.t.Fatal(err)
	}
}

// run runs the program in a separate process, which is ended if it hangs.
func (a at) run(stdin string, args ...string) string {
	a.t.Helper()
	self, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"cardea"}, args...)
	cmd.Dir = a.project
	cmd.Env = []string{"HOME=" + a.home, "PATH=/usr/bin:/bin"}
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); ctx.Err() != nil {
		a.t.Errorf("cardea %s hangs (%v)", strings.Join(args, " "), err)
	}
	return out.String()
}

// check returns the hook's answer about a command.
func (a at) check(command string) string {
	a.t.Helper()
	message := fmt.Sprintf(
		`{"session_id":"s","transcript_path":"/t","hook_event_name":"PreToolUse","permission_mode":"default","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q}}`,
		a.project,
		command,
	)
	out := a.run(message, "check", "--harness", "claude-code", "--limit", "20s")
	if strings.Contains(out, "no verdict within") || strings.Contains(out, "time limit") || strings.Contains(out, "internal error") {
		a.t.Errorf("%s: %s", command, out)
	}
	return out
}

// No path that the hook reads makes it hang, whatever is there.
func TestUnusualThingsInPlaces(t *testing.T) {
	for i, p := range placesRead {
		for k, name := range slices.Sorted(maps.Keys(unusualThings)) {
			if !testrun.Long() && name != "pipe" && i%len(unusualThings) != k {
				continue
			}
			t.Run(p.place+" "+name, func(t *testing.T) {
				t.Parallel()
				a := newPlace(t)
				a.replace(p.place, unusualThings[name])
				if out := a.check("rm -rf /"); !strings.Contains(out, `"permissionDecision":"deny"`) {
					t.Errorf("rm -rf / is not denied: %s", out)
				}
				out := a.check("cd sub && make x > new.txt && ./x.sh && find . -name y | xargs cat && git log")
				if name == "folder" && !strings.HasSuffix(p.place, ".yaml") && !strings.HasSuffix(p.place, ".json") {
					return // a folder is valid there
				}
				if asks := strings.Contains(out, `"permissionDecision":"ask"`); asks != p.decides {
					t.Errorf("asks: %v: %s", asks, out)
				}
			})
		}
	}
}

// They do not make the commands for people hang either.
func TestCommandsBesidePipes(t *testing.T) {
	commands := []string{
		"list",
		"lint",
		"test",
		"doctor",
		"trust",
		"trust verify",
		"trust list",
		"permissions",
		"statusline",
		"policy validate",
		"policy inspect",
		"audit verify",
		"audit search x",
		"explain last",
		"try ls",
		"install claude --dry-run",
		"install claude --uninstall --dry-run",
	}
	all := newPlace(t)
	for _, p := range placesRead {
		if isLeaf(p.place) {
			all.replace(p.place, unusualThings["pipe"])
		}
	}
	for _, c := range commands {
		all.run("", strings.Fields(c)...)
	}
	for _, p := range placesRead {
		if !strings.Contains(p.place, "state/cardea") {
			continue
		}
		a := newPlace(t)
		a.check("ls")
		a.replace(p.place, unusualThings["pipe"])
		for _, c := range []string{
			"audit verify",
			"audit search ls",
			"trust list",
			"doctor",
			"explain last",
		} {
			a.run("", strings.Fields(c)...)
		}
	}
	days := newPlace(t)
	days.check("ls")
	days.replace("~/.local/state/cardea/ledger/2026-01-02.jsonl", unusualThings["pipe"])
	for _, c := range []string{"audit verify", "audit search ls", "explain last"} {
		days.run("", strings.Fields(c)...)
	}
}

// isLeaf reports whether no other path is in this one.
func isLeaf(place string) bool {
	for _, p := range placesRead {
		if strings.HasPrefix(p.place, place+"/") {
			return false
		}
	}
	return true
}
