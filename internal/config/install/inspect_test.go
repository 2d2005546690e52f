package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestInspectFindsWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/c/cardea","args":["check"]}]}]}}`:                     `match "Bash"`,
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/c/cardea","args":["check"],"timeout":5}]}]}}`:                          "waits 5s and Cardea takes up to 5s",
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/c/cardea","args":["check","--limit=8s","--harness=copilot-cli"]}]}]}}`: "form of copilot-cli",
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/c/cardea","args":["check","--limit","8s"],"async":true}]}]}}`:          "background",
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/c/cardea check --limit 8s","if":"Bash(git *)"}]}]}}`:                   "condition",
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/c/cardea check --limit 8s","env":{"HOME":"/tmp"}}]}]}}`:                "sets env",
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"prompt","command":"/c/cardea check --limit 8s"}]}]}}`:                                       `type is "prompt"`,
	} {
		h, at := harnessOf(t, "claude"), machine(t)
		put(t, filepath.Join(at.User["claude-code"], "settings.json"), text)
		f := Inspect(h, at)
		if len(f.Wirings) != 1 || len(f.Wirings[0].Diagnostics) != 1 || !strings.Contains(f.Wirings[0].Diagnostics[0].Text, want) || !slices.Equal(f.Missing(h), []string{"PermissionRequest"}) {
			t.Errorf("%s: %+v", want, f)
		}
	}
}

func TestSwitchedOff(t *testing.T) {
	h := harnessOf(t, "claude")
	for _, tt := range []struct {
		file, text string
		scope      Scope
		off        bool
	}{
		{".claude/settings.json", `{"disableAllHooks": true}`, User, true},
		{".claude/settings.json", `{"disableAllHooks": false}`, User, false},
		{".claude/settings.local.json", `{"disableAllHooks": true}`, Managed, false},
		{"../etc/claude-code/managed-settings.json", `{"disableAllHooks": true}`, Managed, true},
		{"../etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`, User, true},
		{"../etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`, Managed, false},
	} {
		at := machine(t)
		mustInstall(t, h, tt.scope, at, wanted)
		put(t, filepath.Join(at.Project, tt.file), tt.text)
		f := Inspect(h, at)
		if len(f.Wirings) != 2 || (f.Wirings[0].Off != "") != tt.off || (len(f.Missing(h)) > 0) != tt.off {
			t.Errorf("%+v: %+v", tt, f)
		}
	}
	c, at := harnessOf(t, "copilot"), machine(t)
	mustInstall(t, c, User, at, wanted)
	mustInstall(t, c, Managed, at, wanted)
	put(t, filepath.Join(at.User["copilot-cli"], "settings.json"), `{"disableAllHooks": true}`)
	f := Inspect(c, at)
	if len(f.Wirings) != 4 || f.Wirings[0].Off != "" || f.Wirings[2].Off == "" {
		t.Errorf("%+v", f)
	}
	put(t, filepath.Join(at.User["copilot-cli"], "settings.json"), `[`)
	put(t, filepath.Join(at.Machine["copilot-cli"], "b.json"), `[]`)
	if f = Inspect(c, at); len(f.Diagnostics) != 2 || !strings.Contains(f.Diagnostics[1].String(), "settings.json:1:2: ") {
		t.Errorf("%q", f.Diagnostics)
	}
	put(t, filepath.Join(at.User["copilot-cli"], "hooks/cardea.json"), "// mine\n"+get(t, filepath.Join(at.User["copilot-cli"], "hooks/cardea.json")))
	if f = Inspect(c, at); len(f.Diagnostics) != 3 || !strings.Contains(f.Diagnostics[2].Text, "are no JSON") {
		t.Errorf("%q", f.Diagnostics)
	}
	if !c.Installed(at, nil) || harnessOf(t, "claude").Installed(Places{User: map[string]string{"claude-code": filepath.Join(at.Project, "none")}}, nil) {
		t.Error("what is installed is not told apart")
	}
}

// program writes a shell script that acts as a hook or a harness.
func program(t *testing.T, name, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProbe(t *testing.T) {
	claude, copilot := harnessOf(t, "claude"), harnessOf(t, "copilot")
	deny := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	for _, tt := range []struct {
		h            Harness
		script, want string
	}{
		{claude, "grep -q '\"command\":\"rm -rf /\"' && [ $CLAUDECODE = 1 ] && [ \"$1\" = check ] && echo '" + deny + "'", ""},
		{copilot, `grep -q toolName && echo '{"permissionDecision":"deny"}'`, ""},
		{claude, "echo no >&2; exit 2", "blocks every call because it fails: no"},
		{claude, "echo oops >&2; exit 1", "exits 1: oops"},
		{claude, "true", "silent"},
		{claude, `echo '{"permissionDecision":"deny"}'`, "does not deny"},
		{copilot, "echo '" + deny + "'", "does not deny"},
		{claude, "echo denied", "cannot be read by Claude Code: denied"},
		{claude, "exec sleep 20", "no answer within"},
	} {
		w := Wiring{Program: program(t, "cardea", tt.script), Args: []string{"check"}, Timeout: 400 * time.Millisecond}
		if tt.want != "no answer within" {
			w.Timeout = 30 * time.Second
		}
		err := Probe(context.Background(), tt.h, w, t.TempDir(), os.Environ())
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.script, err)
		}
		if w.Shell = w.Program + " check"; tt.want == "" {
			if err := Probe(context.Background(), tt.h, w, t.TempDir(), os.Environ()); err != nil {
				t.Errorf("%s: %v", w.Command(), err)
			}
		}
	}
	w := Wiring{Program: filepath.Join(t.TempDir(), "cardea"), Args: []string{"check"}, Timeout: time.Second}
	if err := Probe(context.Background(), claude, w, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Error(err)
	}
}

// TestSameProgram checks that only this very program is run: settings of a project may name
// any program.
func TestSameProgram(t *testing.T) {
	mine, theirs := program(t, "cardea", "true"), program(t, "cardea", "true")
	for _, tt := range []struct {
		w    Wiring
		want bool
	}{
		{Wiring{Program: mine}, true},
		{Wiring{Program: theirs}, false},
		{Wiring{Program: mine + "x"}, false},
		{Wiring{Program: mine, Shell: mine + " check"}, true},
		{Wiring{Program: mine, Shell: mine + " check; rm x"}, false},
		{Wiring{Program: mine, Shell: mine + " check $(x)"}, false},
		{Wiring{Program: mine, Shell: mine + " check\nx"}, false},
	} {
		if tt.w.SameProgram(mine) != tt.want {
			t.Errorf("%+v", tt.w)
		}
	}
}

// TestAsker checks that cardea-hook is treated as this program only if it is next to it.
func TestAsker(t *testing.T) {
	mine, theirs := program(t, "cardea", "true"), program(t, "cardea-hook", "true")
	beside := filepath.Join(filepath.Dir(mine), "cardea-hook")
	if (Wiring{Program: beside}).SameProgram(mine) {
		t.Error("it is not there")
	}
	if err := os.WriteFile(beside, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !(Wiring{Program: beside}).SameProgram(mine) || (Wiring{Program: theirs}).SameProgram(mine) || (Wiring{Program: beside, Shell: beside + " check; rm x"}).SameProgram(mine) {
		t.Error("another program counts, or this one does not")
	}
	if !IsAsker(beside) || IsAsker(mine) || IsAsker("") || Asker(mine) != beside {
		t.Error(Asker(mine))
	}
	if err := CheckBinary(beside); err != nil && !strings.Contains(err.Error(), "write") {
		t.Error(err)
	}
}

func TestVersion(t *testing.T) {
	h := harnessOf(t, "claude")
	for script, want := range map[string]string{
		"echo '2.1.300 (Claude Code)'": "2.1.300", "echo claude v1.0.71": "1.0.71", "echo none": "", "exit 3": "",
	} {
		dir := filepath.Dir(program(t, "claude", script))
		v, err := Version(context.Background(), h, []string{"relative", dir}, "")
		if v != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", script, v, err)
		}
		if _, err := Version(context.Background(), h, []string{dir}, filepath.Dir(dir)); !errors.Is(err, ErrNotFound) {
			t.Errorf("a program of the project was run: %v", err)
		}
	}
	for v, want := range map[string]bool{"2.1.295": true, "2.1.294": false, "2.1.1000-beta": true, "2.2.0": true, "3.0.0": true, "1.9.999": false, "2.1": false, "": false, "2.x.300": false} {
		if FailsClosed(h, v) != want {
			t.Errorf("%s: %v", v, !want)
		}
	}
	if FailsClosed(harnessOf(t, "copilot"), "9.9.999") {
		t.Error("Copilot CLI has the key")
	}
}

func TestStableBinary(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string {
		path = filepath.Join(base, path)
		put(t, path, "x")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := at("opt/bin/cardea")
	cellar := at("Cellar/cardea/1.2.3/bin/cardea")
	if err := os.Symlink(cellar, filepath.Join(base, "opt/bin/cardea-link")); err != nil {
		t.Fatal(err)
	}
	links, unusual := filepath.Join(base, "home/.linuxbrew/bin"), filepath.Join(base, "odd/bin")
	other := at("mod/cardea@v0.1.0/cardea")
	if err := errors.Join(os.MkdirAll(links, 0o755), os.Symlink(cellar, filepath.Join(links, "cardea")), os.MkdirAll(unusual, 0o755), os.Symlink(other, filepath.Join(unusual, "cardea"))); err != nil {
		t.Fatal(err)
	}
	m := Machine{Project: filepath.Join(base, "app"), Temp: []string{"", "/", filepath.Join(base, "tmp")}, Home: filepath.Join(base, "home"), Advice: "ADVICE"}
	for _, path := range []string{cellar, filepath.Join(links, "cardea")} {
		m.Executable = path
		if got, err := StableBinary(m); err != nil || got != filepath.Join(links, "cardea") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, dir := range []string{"home/.local/bin", "home/go/bin", "home/.local/share/cardea/bin"} {
		m.Executable = at(dir + "/cardea")
		if got, err := StableBinary(m); err != nil || got != m.Executable {
			t.Errorf("%s: %q, %v", dir, got, err)
		}
	}
	for path, want := range map[string]string{
		good:                                   "",
		filepath.Join(unusual, "cardea"):       "one version, which the next update removes; install it into a folder that stays, and run it from there: ADVICE",
		at("tmp/x/cardea"):                     "temporary",
		at("cache/go-build12/b001/exe/cardea"): "go run",
		at("app/bin/cardea"):                   "in the project",
		at("mod/cardea.dev@v0.1.0/cardea"):     "one version",
		filepath.Join(base, "none"):            "name it with --binary",
	} {
		m.Executable = path
		got, err := StableBinary(m)
		if want == "" && (err != nil || got != path) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	// A program that the user names is rejected for the same reasons.
	m.Executable = good
	named := func(path string, folders ...string) string {
		for _, dir := range folders {
			if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Join(base, path)
	}
	link := func(to, path string) string {
		path = named(path, filepath.Dir(path))
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link(filepath.Join(base, "app/bin"), "l/to-app")
	link(filepath.Join(base, "opt/bin"), "app/to-opt")
	link(filepath.Join(base, "app"), "l/app")
	link(good, "app/hop")
	if err := os.Chmod(named("wide", "wide"), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		good:                             "",
		link(cellar, "l/brew/cardea"):    "", // leads to a versioned folder
		base + "/opt/../opt//bin/cardea": "",
		cellar:                           "one version, which the next update removes; install it into a folder that stays, and name that one: ADVICE",
		base + "/tmp/x/cardea":           "temporary",
		base + "/none/../tmp/x/cardea":   "temporary",
		base + "/cache/go-build12/b001/exe/cardea":   "go run",
		base + "/app/bin/cardea":                     "in the project",
		base + "/l/to-app/cardea":                    "in the project",
		base + "/app/to-opt/cardea":                  "in the project",
		base + "/l/app/to-opt/cardea":                "in the project",
		link(base+"/app/hop", "l/hop/cardea"):        "in the project", // and from there to a stable folder
		link(base+"/tmp/x/cardea", "l/t/cardea"):     "temporary",
		link(good, "wide/cardea"):                    "written by everybody",
		link(base+"/l/loop/cardea", "l/loop/cardea"): "",
	} {
		m.Named = path
		got, err := StableBinary(m)
		switch {
		case strings.Contains(path, "/loop/"):
			if err == nil {
				t.Error("a loop is taken")
			}
		case want == "" && (err != nil || got != path), want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("named %s: %q, %v", path, got, err)
		}
	}
	m.Named = ""
	// A package manager's link through the project is rejected.
	if err := errors.Join(os.Remove(filepath.Join(links, "cardea")), os.Symlink(base+"/l/to-app/cardea", filepath.Join(links, "cardea"))); err != nil {
		t.Fatal(err)
	}
	m.Executable = filepath.Join(links, "cardea")
	if got, err := StableBinary(m); err == nil {
		t.Errorf("a link into the project is taken: %s", got)
	}
	if m.unstable("/nix/store/abc-cardea/bin/cardea") == "" || isVersion("cardea.dev") || isVersion("local") || isVersion("12") {
		t.Error("versions are not told")
	}
	dull, open, gate := at("a/cardea"), at("b/cardea"), at("c/gate")
	if err := errors.Join(os.Chmod(dull, 0o644), os.Chmod(open, 0o757)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dull:                    "not executable",
		open:                    "written by everybody",
		gate:                    "not called cardea",
		"bin/cardea":            "no absolute path",
		base + "/none/cardea":   "install it first",
		base + "/Cellar/cardea": "no program",
	} {
		if err := CheckBinary(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestProgramFoldersOfTheScript checks that the protected folders are those in which the
// plugin's script looks.
func TestProgramFoldersOfTheScript(t *testing.T) {
	text, err := os.ReadFile("../../../plugin/scripts/cardea-hook.sh")
	if err != nil {
		t.Skip(err)
	}
	want := ""
	for _, dir := range ProgramFolders("$HOME", "", nil) {
		if want += " " + dir; strings.HasPrefix(dir, "$") {
			want = strings.TrimSuffix(want, dir) + `"` + dir + `"`
		}
	}
	if !strings.Contains(string(text), "for dir in"+want+"; do") {
		t.Errorf("the script does not look in%s", want)
	}
}
