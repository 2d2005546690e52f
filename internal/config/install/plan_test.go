package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/testing/testrun"
)

var wanted = Wanted{Binary: "/usr/local/bin/cardea", Timeout: 10 * time.Second, FailClosed: true}

func harnessOf(t *testing.T, name string) Harness {
	t.Helper()
	h, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func machine(t *testing.T) Places {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	p := Places{User: map[string]string{}, Machine: map[string]string{}, Project: at("app"), State: at("state")}
	for _, h := range Harnesses() {
		own, _, _ := h.OwnFolder()
		p.User[h.Name], p.Machine[h.Name] = at("home/"+own), at("etc/"+h.Name)
	}
	if err := os.MkdirAll(p.Project, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func mustInstall(t *testing.T, h Harness, s Scope, at Places, w Wanted) *Plan {
	t.Helper()
	p, err := PlanInstall(h, s, at, w)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustUninstall(t *testing.T, h Harness, s Scope, at Places) *Plan {
	t.Helper()
	p, err := PlanUninstall(h, s, at)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const others = `{"type": "command", "command": "other"}`

// files are settings of users. Those marked with ! need the memory to be restored to the
// byte, since an empty container may be Cardea's.
var files = map[string]string{
	"foreign":      "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [" + others + "]} // keep\n    ],\n    \"Stop\": []\n  }\n}\n",
	"no hooks":     "{\n\t\"permissions\": {\n\t\t\"allow\": [\"Bash(ls)\"]\n\t}\n}",
	"one line":     `{"model":"opus","hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + others + `]}]}}`,
	"windows":      "{\r\n    \"model\": \"opus\"\r\n}\r\n",
	"commas":       "{\n  \"model\": \"opus\", /* so */\n  \"hooks\": {\n    \"PermissionRequest\": [\n      {\"hooks\": [" + others + "]},\n    ],\n  },\n}\n",
	"empty":        "{}\n",
	"mark":         "\ufeff{\"model\": \"opus\"}\n",
	"! empty":      "{\"hooks\": {}}\n",
	"! lists":      "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"PermissionRequest\": [\n    ]\n  }\n}\n",
	"words inside": "{\n  \"hooks\": {\n    \"PreToolUse\": [ // none yet\n    ]\n  }\n}\n",
}

func TestRoundTrip(t *testing.T) {
	h := harnessOf(t, "claude")
	for name, text := range files {
		for _, remember := range []bool{true, false} {
			if !remember && name[0] == '!' {
				continue
			}
			at := machine(t)
			if !remember {
				at.State = ""
			}
			path := filepath.Join(at.User["claude-code"], "settings.json")
			put(t, path, text)
			mustInstall(t, h, User, at, wanted)
			installed := get(t, path)
			if strings.Count(installed, "/usr/local/bin/cardea") != 2 || strings.Count(installed, "onFailure") != 2 {
				t.Errorf("%s: not installed:\n%s", name, installed)
			}
			for _, keep := range []string{"mine", "keep", "so", "none yet", "\"other\"", "opus"} {
				if strings.Contains(text, keep) && !strings.Contains(installed, keep) {
					t.Errorf("%s: %s is lost:\n%s", name, keep, installed)
				}
			}
			if again, err := PlanInstall(h, User, at, wanted); err != nil || again.Changed() {
				t.Errorf("%s: twice is a change: %v\n%s", name, err, again.Diff())
			}
			other := wanted
			other.Timeout, other.Unattended, other.FailClosed = 30*time.Second, true, false
			mustInstall(t, h, User, at, other)
			if s := get(t, path); !strings.Contains(s, "24s") || !strings.Contains(s, "--unattended") || strings.Contains(s, "8s\"") || strings.Contains(s, "onFailure") {
				t.Errorf("%s: not renewed:\n%s", name, s)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
			}
			mustUninstall(t, h, User, at)
			if s := get(t, path); s != text {
				t.Errorf("%s (remembered: %v): uninstalled\n%q\nwant\n%q", name, remember, s, text)
			}
		}
	}
}

// TestOthersWriteInBetween checks that a concurrent change by another program stays.
func TestOthersWriteInBetween(t *testing.T) {
	h, at := harnessOf(t, "claude-code"), machine(t)
	path := filepath.Join(at.User["claude-code"], "settings.json")
	put(t, path, "{\n  \"a\": 1\n}\n")
	mustInstall(t, h, User, at, wanted)
	s := strings.Replace(get(t, path), "\"hooks\": [\n          {", "\"hooks\": [\n          "+others+",\n          {", 1)
	put(t, path, strings.Replace(s, "\"a\": 1", "\"a\": 2", 1))
	mustUninstall(t, h, User, at)
	s = get(t, path)
	if !strings.Contains(s, others) || !strings.Contains(s, "\"a\": 2") || strings.Contains(s, "cardea") || strings.Contains(s, "PermissionRequest") {
		t.Error(s)
	}
	if p := mustUninstall(t, h, User, at); p.Changed() {
		t.Error(p.Diff())
	}
}

// TestNewFiles checks that an uninstallation removes created files and folders.
func TestNewFiles(t *testing.T) {
	for _, name := range []string{"claude", "copilot"} {
		for _, scope := range []Scope{User, Project, Managed} {
			h, at := harnessOf(t, name), machine(t)
			p := mustInstall(t, h, scope, at, wanted)
			want, err := at.File(h, scope)
			if err != nil || p.File != want || !strings.Contains(p.Diff(), "--- /dev/null\n+++ "+want) {
				t.Errorf("%s %s: %s, %v\n%s", name, scope, p.File, err, p.Diff())
			}
			if w := Inspect(h, at).Wirings; len(w) != 2 || w[0].Scope != scope || len(w[0].Diagnostics) > 0 || w[0].Limit != 8*time.Second {
				t.Errorf("%s %s: %+v", name, scope, w)
			}
			if p = mustUninstall(t, h, scope, at); !p.Remove || !strings.Contains(p.Diff(), "+++ /dev/null") {
				t.Errorf("%s %s: the file is still there", name, scope)
			}
			if _, err := os.Stat(filepath.Dir(want)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s %s: the folder is still there: %v", name, scope, err)
			}
			if p = mustUninstall(t, h, scope, at); p.Changed() {
				t.Error("there is something to uninstall from nothing")
			}
		}
	}
	h, at := harnessOf(t, "copilot"), machine(t)
	path := filepath.Join(at.User["copilot-cli"], "hooks/cardea.json")
	mustInstall(t, h, User, at, wanted)
	put(t, path, strings.Replace(get(t, path), "\"version\": 1,", "\"version\": 1, \"note\": \"theirs\",", 1))
	mustUninstall(t, h, User, at)
	if s := get(t, path); !strings.Contains(s, "theirs") || strings.Contains(s, "check") {
		t.Error(s)
	}
}

func TestLinks(t *testing.T) {
	h, at := harnessOf(t, "claude"), machine(t)
	real, link := filepath.Join(at.User["claude-code"], "../dotfiles/claude.json"), filepath.Join(at.User["claude-code"], "settings.json")
	put(t, real, "{}\n")
	if err := errors.Join(os.MkdirAll(at.User["claude-code"], 0o755), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	mustInstall(t, h, User, at, wanted)
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(get(t, real), "cardea") {
		t.Errorf("the link was replaced: %v", err)
	}
	mustUninstall(t, h, User, at)
	if get(t, real) != "{}\n" {
		t.Error(get(t, real))
	}
	// A clone can contain a link to the user's files.
	if err := errors.Join(os.MkdirAll(filepath.Join(at.Project, ".claude"), 0o755), os.Symlink(real, filepath.Join(at.Project, ".claude/settings.json"))); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanInstall(h, Project, at, wanted); err == nil || !strings.Contains(err.Error(), "out of the project") {
		t.Errorf("a project's link is followed: %v", err)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanInstall(h, User, at, wanted); err == nil || !strings.Contains(err.Error(), "link to a file that does not exist") {
		t.Error(err)
	}
}

func TestReadOnlyAndUnusualFiles(t *testing.T) {
	h := harnessOf(t, "claude")
	for name, spoil := range map[string]func(path string) error{
		"is read-only":        func(p string) error { return os.Chmod(p, 0o444) },
		"folder":              func(p string) error { return os.Chmod(filepath.Dir(p), 0o555) },
		"no regular file":     func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) },
		"by somebody else":    func(p string) error { return os.WriteFile(p, []byte("{ }\n"), 0o600) },
		"no such file":        os.Remove,
		"less than 4194304 b": func(p string) error { return os.Truncate(p, maxFile+1) },
	} {
		at := machine(t)
		path := filepath.Join(at.User["claude-code"], "settings.json")
		put(t, path, "{}\n")
		late := name == "by somebody else" || name == "no such file"
		if !late {
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
		}
		p, err := PlanInstall(h, User, at, wanted)
		if late {
			err = spoil(path)
		}
		if err == nil {
			err = p.Apply()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		_ = os.Chmod(filepath.Dir(path), 0o755)
		if left, _ := filepath.Glob(filepath.Join(at.User["claude-code"], ".cardea-*")); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestBrokenFilesAreLeftAlone(t *testing.T) {
	h, at := harnessOf(t, "claude"), machine(t)
	path := filepath.Join(at.User["claude-code"], "settings.json")
	for text, want := range map[string]string{
		"{\n  \"a\": 1\n  \"b\": 2\n}":      ":3:3: a comma",
		"":                                  ":1:1: the file is empty",
		"[1]":                               ":1:1: the file must hold an object",
		"{\"hooks\": []}":                   ":1:11: hooks must be an object",
		"{\"hooks\": {\"PreToolUse\": {}}}": ":1:26: hooks.PreToolUse must be a list",
		"{\"hooks\": {}, \"hooks\": {}}":    "for the second time",
		"{\"hooks\": {\"PreToolUse\": [], \"PreToolUse\": []}}": "for the second time",
	} {
		put(t, path, text)
		_, err := PlanInstall(h, User, at, wanted)
		var broken diagnostic.Diagnostic
		if !errors.As(err, &broken) || broken.Line == 0 || !strings.Contains(err.Error(), path+want) && !strings.Contains(err.Error(), want) || get(t, path) != text {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestUninstallFromBrokenFiles(t *testing.T) {
	h, at := harnessOf(t, "claude"), machine(t)
	path := filepath.Join(at.User["claude-code"], "settings.json")
	put(t, path, files["foreign"])
	mustInstall(t, h, User, at, wanted)
	installed := get(t, path)
	put(t, path, strings.Replace(installed, "\"model\": \"opus\",", "\"model\": \"opus\"", 1))
	p := mustUninstall(t, h, User, at)
	s := get(t, path)
	if strings.Contains(s, "cardea") || !strings.Contains(s, others+"]}, // keep") || !strings.Contains(s, "\"model\": \"opus\"\n") || len(p.Notes) != 1 ||
		!strings.Contains(p.Notes[0].Text, "2 entries") {
		t.Errorf("%v\n%s", p.Notes, s)
	}
	if repaired, err := jsonedit.Parse([]byte(strings.Replace(s, "\"opus\"", "\"opus\",", 1))); err != nil {
		t.Errorf("the rest is damaged: %v\n%s", err, s)
	} else if len(spots(repaired.Root)) != 0 {
		t.Error(s)
	}
	// The error is in Cardea's own entry: no guess is made.
	text := strings.ReplaceAll(installed, "\"timeout\": ", "\"timeout\": [")
	put(t, path, text)
	_, err := PlanUninstall(h, User, at)
	if err == nil || !strings.Contains(err.Error(), "by hand the entries that name cardea: line ") || get(t, path) != text {
		t.Error(err)
	}
	put(t, path, "{\"a\": }")
	if _, err := PlanUninstall(h, User, at); err == nil || !strings.Contains(err.Error(), "does not stand in it") {
		t.Error(err)
	}
}

// TestWhatIsOurs checks that manually written entries are also Cardea's, and that similar
// ones are not.
func TestWhatIsOurs(t *testing.T) {
	for text, want := range map[string]bool{
		`{"command": "/opt/cardea", "args": ["check"]}`:                           true,
		`{"command": "cardea check --harness claude-code"}`:                       true,
		`{"command": "'/opt/it'\\''s mine/cardea' check"}`:                        true,
		`{"command": "'/opt/other' 'cardea' check"}`:                              false,
		`{"command": "\"/opt/my/cardea\" check"}`:                                 true,
		`{"bash": "/opt/cardea check", "powershell": "& 'C:\\cardea.exe' check"}`: true,
		`{"exec": "C:\\bin\\Cardea.exe", "args": ["check"]}`:                      true,
		`{"command": "/opt/cardea", "args": ["statusline"]}`:                      false,
		`{"command": "/opt/other", "args": ["check", "cardea"]}`:                  false,
		`{"command": "echo cardea check"}`:                                        false,
		`{"command": "cardea"}`:                                                   false,
		`{}`:                                                                      false,
		`7`:                                                                       false,
	} {
		d, err := jsonedit.Parse([]byte(text))
		if err != nil || isOurs(d.Root) != want {
			t.Errorf("%s: %v, %v", text, !want, err)
		}
	}
	if _, err := Find("emacs"); err == nil {
		t.Error("emacs is a harness")
	}
	if _, err := (Places{}).File(harnessOf(t, "claude"), User); err == nil {
		t.Error("a file in no folder")
	}
	if _, err := (Places{}).File(harnessOf(t, "copilot"), Project); err == nil || !strings.Contains(err.Error(), "no project") {
		t.Error(err)
	}
	if c := harnessOf(t, "copilot"); c.MachineFolder("windows") == c.MachineFolder("linux") || c.MachineFolder("darwin") != c.MachineFolder("linux") {
		t.Error("policies lie in the same folder everywhere")
	}
}

// TestFalseMemory checks that a forged memory removes nothing but Cardea's entries.
func TestFalseMemory(t *testing.T) {
	h, at := harnessOf(t, "claude"), machine(t)
	path := filepath.Join(at.User["claude-code"], "settings.json")
	put(t, path, files["foreign"])
	mustInstall(t, h, User, at, wanted)
	m := recall(at.State, path)
	m.Insertions = []jsonedit.Insertion{{At: 1, Text: "\n  // mine\n  \"model\": \"opus\","}}
	if err := m.save(at.State); err != nil {
		t.Fatal(err)
	}
	mustUninstall(t, h, User, at)
	if get(t, path) != files["foreign"] {
		t.Error(get(t, path))
	}
	mustInstall(t, h, User, at, wanted)
	put(t, memoryPath(at.State, path), "{nonsense")
	mustUninstall(t, h, User, at)
	if get(t, path) != files["foreign"] {
		t.Error(get(t, path))
	}
}

// TestCutEntry checks that removing an entry from a broken file also removes one comma.
func TestCutEntry(t *testing.T) {
	for text, want := range map[string]string{"[1, X, 2": "[1, 2", "[1, X]": "[1]", "[X]": "[]", "X": ""} {
		i := strings.Index(text, "X")
		if got := string(cutEntry([]byte(text), i, i+1)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMemoryOfOtherVersions checks that a memory of an earlier version is read, and that
// one of a newer version is not replaced.
func TestMemoryOfOtherVersions(t *testing.T) {
	for _, folder := range testrun.EarlierState(t) {
		if m := recall(folder, "/tmp/cardea-sample/home/.claude/settings.json"); m == nil || !m.NewFile || len(m.Made) == 0 {
			t.Errorf("%s: %+v", folder, m)
		}
	}
	folder := t.TempDir()
	m := &memory{V: 1, File: "/x/settings.json"}
	newer := `{"v": 99, "file": "/x/settings.json", "more": 1}`
	put(t, memoryPath(folder, m.File), newer)
	if err := m.save(folder); err == nil || !strings.Contains(err.Error(), "a newer Cardea wrote") || recall(folder, m.File) != nil {
		t.Error(err)
	}
	if got := get(t, memoryPath(folder, m.File)); got != newer {
		t.Error(got)
	}
}
