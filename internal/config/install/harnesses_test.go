package install

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/harness"
)

// TestEveryHarnessRoundTrip installs and removes Cardea in each harness, with versions that
// fail closed.
func TestEveryHarnessRoundTrip(t *testing.T) {
	for _, h := range Harnesses() {
		for _, scope := range []Scope{User, Project, Managed} {
			for name, text := range map[string]string{"none": "", "theirs": files["no hooks"], "others'": files["foreign"]} {
				at := machine(t)
				path, err := at.File(h, scope)
				if err != nil {
					continue
				}
				if text != "" {
					if h.plugin != nil {
						continue // TestProgramsOfOthers
					}
					put(t, path, text)
				}
				w := wanted
				w.FailClosed = FailsClosed(h, "9999.0.0")
				on, left, err := h.On("9999.0.0", AllEvents)
				if err != nil || len(left) > 0 {
					t.Fatalf("%s: %v, %v", h.Name, left, err)
				}
				mustInstall(t, on, scope, at, w)
				if again, err := PlanInstall(on, scope, at, w); err != nil || again.Changed() {
					t.Errorf("%s %s %s: twice is a change: %v", h.Name, scope, name, err)
				}
				found := Inspect(h, at)
				if missing := found.Missing(on); len(missing) > 0 || len(found.Wirings) != len(on.events) {
					t.Errorf("%s %s %s: lacks %v of %v", h.Name, scope, name, missing, on.events)
				}
				for _, x := range found.Wirings {
					gate := slices.Contains(h.gates, x.Event)
					if len(x.Diagnostics) > 0 || x.Program != w.Binary || !slices.Equal(x.Args, w.Args(h)) || x.Limit != 8*time.Second || gate && h.Open(x, "9999.0.0") != "" {
						t.Errorf("%s %s %s: %+v %s", h.Name, scope, name, x, h.Open(x, "9999.0.0"))
					}
					if h.timeout != "" && x.Timeout != 10*time.Second {
						t.Errorf("%s: waits %s", h.Name, x.Timeout)
					}
				}
				mustUninstall(t, h, scope, at)
				if text != "" && get(t, path) != text {
					t.Errorf("%s %s %s: uninstalled\n%q", h.Name, scope, name, get(t, path))
				}
				if text == "" && scope != Project {
					if left := under(t, at.base(h, scope)); len(left) > 0 {
						t.Errorf("%s %s: %v is still there", h.Name, scope, left)
					}
				}
			}
		}
	}
}

// under returns the files and folders in a folder, and the folder itself.
func under(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			out = append(out, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// TestProgramsOfOthers checks that another program's file in the place of a small program
// is left alone.
func TestProgramsOfOthers(t *testing.T) {
	for _, h := range Harnesses() {
		if h.plugin == nil {
			continue
		}
		at := machine(t)
		path, err := at.File(h, User)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, "theirs\n")
		if _, err := PlanInstall(h, User, at, wanted); err == nil || !strings.Contains(err.Error(), "is not Cardea's") {
			t.Errorf("%s: %v", h.Name, err)
		}
		if p := mustUninstall(t, h, User, at); p.Changed() || get(t, path) != "theirs\n" {
			t.Errorf("%s: %s", h.Name, get(t, path))
		}
		if f := Inspect(h, at); len(f.Wirings) != 0 || len(f.Diagnostics) != 1 {
			t.Errorf("%s: %+v", h.Name, f)
		}
		// A changed program is reported, and replaced.
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		mustInstall(t, h, User, at, wanted)
		put(t, path, get(t, path)+"\n")
		if f := Inspect(h, at); len(f.Wirings) != 1 || len(f.Wirings[0].Diagnostics) != 1 || f.Wirings[0].Diagnostics[0].Code != CodeChanged {
			t.Errorf("%s: %+v", h.Name, f)
		}
		mustInstall(t, h, User, at, wanted)
		if f := Inspect(h, at); len(f.Wirings) != 1 || len(f.Wirings[0].Diagnostics) != 0 {
			t.Errorf("%s: %+v", h.Name, f)
		}
	}
}

// TestNamesOfHarnesses checks that the names are those in the rest of Cardea.
func TestNamesOfHarnesses(t *testing.T) {
	for _, h := range Harnesses() {
		for _, word := range []string{h.Name, h.Program} {
			if found, err := Find(word); err != nil || found.Name != h.Name || harness.Canonical(h.Name) != h.Name {
				t.Errorf("%s: %s, %v", word, found.Name, err)
			}
		}
		for _, event := range h.gates {
			if kind := h.kind(event); kind != "PreToolUse" && kind != "PermissionRequest" {
				t.Errorf("%s: %s is %s", h.Name, event, kind)
			}
		}
		if !strings.Contains(Overview(), h.Program) {
			t.Errorf("%s is not in the overview", h.Name)
		}
	}
	for name := range unsupported {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), "docs/harnesses/"+name+".md") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShutLines checks that the hook's line denies if its program is missing or fails, and
// passes a valid answer unchanged.
func TestShutLines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell lines")
	}
	for _, h := range Harnesses() {
		if h.shut == "" {
			continue
		}
		for script, want := range map[string]struct {
			exit int
			out  string
		}{"echo '{}'": {0, "{}\n"}, "exit 1": {2, ""}, "kill -9 $$": {2, ""}, "exit 2": {2, ""}, "": {2, ""}} {
			binary := "/nowhere/it's/cardea"
			if script != "" {
				binary = program(t, "cardea", script)
			}
			line := h.line(Wanted{Binary: binary, Timeout: time.Second}, h.Gate())
			for _, shell := range []string{"sh", "bash", "zsh", "fish"} {
				// fish is tested only with Codex CLI, the only harness that starts the user's own
				// shell.
				if found, err := exec.LookPath(shell); err == nil && (shell != "fish" || h.shut == shutWrapped) {
					code, out, errs := started(exec.Command(found, "-c", line))
					if code != want.exit || out != want.out || h.shut != shutMute && code != 0 && errs == "" {
						t.Errorf("%s, %s, %q: exit %d, %q, %q", h.Name, shell, script, code, out, errs)
					}
				}
			}
			d, err := jsonedit.Parse(jsonedit.Render([]jsonedit.Field{{Key: h.command, Value: line}}))
			if err != nil {
				t.Fatal(err)
			}
			if p, args := invocation(d.Root); p != binary || !slices.Equal(args, Wanted{Timeout: time.Second}.Args(h)) || h.onFailure(d.Root) != "deny" {
				t.Errorf("%s: %s is read as %s %v", h.Name, line, p, args)
			}
		}
	}
}

func started(c *exec.Cmd) (code int, out, errs string) {
	var said strings.Builder
	c.Stderr = &said
	data, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	return code, string(data), said.String()
}

// TestSwitchedOffElsewhere checks the switches of harnesses that adopted Claude Code's
// settings.
func TestSwitchedOffElsewhere(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"gemini", `{"hooksConfig": {"enabled": false}}`, "hooksConfig.enabled"},
		{"gemini", `{"hooksConfig": {"disabled": ["cardea"]}}`, "hooksConfig.disabled"},
		{"gemini", `{"hooksConfig": {"enabled": true, "disabled": ["other"]}}`, ""},
		{"qwen", `{"disableAllHooks": true}`, "disableAllHooks"},
		{"droid", `{"allowManagedHooksOnly": true}`, "allowManagedHooksOnly"},
	} {
		h, at := harnessOf(t, tt.name), machine(t)
		mustInstall(t, h, User, at, wanted)
		put(t, filepath.Join(at.Project, h.project), tt.text)
		f := Inspect(h, at)
		if len(f.Wirings) == 0 || !strings.HasPrefix(f.Wirings[0].Off, tt.want) || (f.Wirings[0].Off == "") != (tt.want == "") {
			t.Errorf("%+v: %+v", tt, f)
		}
	}
}

// TestCodexTrust checks the digest with which Codex CLI records trust. Codex CLI 0.169.0
// wrote this one for the same hook.
func TestCodexTrust(t *testing.T) {
	h, at := harnessOf(t, "codex"), machine(t)
	path := filepath.Join(at.User[h.Name], "hooks.json")
	put(t, path, `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/bin/cardea check || exit 2","timeout":10}]}]}}`)
	w := Inspect(h, at).Wirings[0]
	seen := w
	seen.Shell = "/bin/true check || exit 2"
	if d := codexDigest("pre_tool_use", seen); d != "sha256:61b68e0ffb058a0380ac0ef28951cf040ef1ee0e8c0266fd24019c9888703659" {
		t.Error(d)
	}
	config := filepath.Join(at.User[h.Name], "config.toml")
	entry := fmt.Sprintf("model = \"x\"\n[hooks.state.\"%s:pre_tool_use:0:0\"]\ntrusted_hash = \"%s\"\n", path, codexDigest("pre_tool_use", w))
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"none": {"", false}, "trusted": {entry, true}, "off": {entry + "enabled = false\n", false}, "of another table": {"[other]\n" + strings.ReplaceAll(entry, "[hooks.state", "[hooks.stale"), false},
		"another place": {strings.ReplaceAll(entry, ":0:0", ":1:0"), false},
		"another hook":  {strings.ReplaceAll(entry, "sha256:", "sha256:0"), false},
		"another event": {strings.ReplaceAll(entry, "pre_tool", "post_tool"), false},
	} {
		put(t, config, tt.text)
		if ok, err := codexTrusts(at, h, w); ok != tt.want || err != nil || (len(h.Untrusted(at, []Wiring{w})) == 0) != tt.want {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	put(t, config, "")
	if problems := h.Untrusted(at, []Wiring{w}); len(problems) != 1 || problems[0].Severity != diagnostic.LevelError || !strings.Contains(problems[0].String(), "Trust all") {
		t.Errorf("%v", problems)
	}
}
