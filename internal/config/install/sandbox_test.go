package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/base/jsonedit"
)

var someDenies = []Deny{
	{SandboxOn, "true"},
	{WaysOut, "false"},
	{DenyRead, "~/.ssh/id_rsa"},
	{DenyRead, `~/a "b" \ ü`},
	{DenyWrite, "/etc/x"},
	{DenyFile, "~/.ssh/id_rsa"},
	{DenyHost, "*.evil.example"},
}

func denying(all ...Deny) func(Sandboxed) (Sandboxed, error) {
	return func(Sandboxed) (Sandboxed, error) { return Sandboxed{Denies: all}, nil }
}

func mustSandbox(t *testing.T, s Scope, at Places, wanted []Deny) *Plan {
	t.Helper()
	p, err := PlanSandbox(harnessOf(t, "claude-code"), s, at, denying(wanted...))
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSandboxDenies checks that all denies are written, that a second run changes nothing,
// and that removal restores the file to the byte in any layout.
func TestSandboxDenies(t *testing.T) {
	for name, text := range map[string]string{
		"none":       "",
		"empty":      "{}\n",
		"comments":   "{\n  // mine\n  \"model\": \"x\", // y\n  \"sandbox\": {\n    \"filesystem\": {\n      \"denyRead\": [\n        \"~/mine\", // m\n      ],\n    },\n  },\n}\n",
		"one line":   `{"a":1,"sandbox":{"filesystem":{"denyWrite":["/x"],"allowWrite":["/y"]},"excludedCommands":["docker *"]},"z":[]}`,
		"tabs":       "{\n\t\"sandbox\": {\n\t\t\"enabled\": true,\n\t\t\"network\": {\"deniedDomains\": []}\n\t}\n}\n",
		"windows":    "{\r\n  \"credentials\": {},\r\n  \"sandbox\": {}\r\n}\r\n",
		"theirs too": `{"sandbox": {"filesystem": {"denyRead": ["~/.ssh/id_rsa"]}, "credentials": {"files": [{"path": "~/.ssh/id_rsa", "mode": "mask"}]}}}`,
	} {
		at, h := machine(t), harnessOf(t, "claude-code")
		file, _ := at.File(h, User)
		if text != "" {
			put(t, file, text)
		}
		mustSandbox(t, User, at, someDenies)
		written := get(t, file)
		d, err := jsonedit.Parse([]byte(written))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, written)
		}
		for _, x := range someDenies {
			if _, at, _, _ := x.find(d); at < 0 {
				t.Errorf("%s: %v is missing in\n%s", name, x, written)
			}
		}
		if p := mustSandbox(t, User, at, someDenies); p.Changed() || get(t, file) != written {
			t.Errorf("%s: a second time changes\n%s", name, p.Diff())
		}
		mustSandbox(t, User, at, nil)
		if text == "" {
			if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the new file stays", name)
			}
		} else if got := get(t, file); got != text {
			t.Errorf("%s: left\n%q\nwant\n%q", name, got, text)
		}
		if info, err := os.Stat(file); text != "" && (err != nil || info.Mode().Perm() != 0o640) {
			t.Errorf("%s: the mode is %v", name, info.Mode())
		}
		if left, err := ReadSandboxed(at.State, file); err != nil || len(left.Denies) > 0 {
			t.Errorf("%s: the record stays: %v, %v", name, left, err)
		}
	}
}

// TestSandboxUpdate checks that unwanted entries are removed and new ones added. Entries
// that the user changed, removed or duplicated stay the user's.
func TestSandboxUpdate(t *testing.T) {
	at, h := machine(t), harnessOf(t, "claude-code")
	file, _ := at.File(h, User)
	put(t, file, "{\n  \"model\": \"x\"\n}\n")
	mustSandbox(t, User, at, someDenies)
	put(t, file, strings.NewReplacer(`"*.evil.example"`, `"*.evil.test"`, `"/etc/x"`, `"/etc/x", "/etc/x", "/theirs"`).Replace(get(t, file)))
	mustSandbox(t, User, at, []Deny{someDenies[2], someDenies[4], {DenyRead, "/new"}})
	got := get(t, file)
	for _, want := range []string{`"/new"`, `"*.evil.test"`, `"/etc/x"`, `"/theirs"`, `"~/.ssh/id_rsa"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "credentials") || strings.Contains(got, "enabled") {
		t.Errorf("what is not wanted stays:\n%s", got)
	}
	p := mustSandbox(t, User, at, nil)
	if got = get(t, file); strings.Count(got, `"/etc/x"`) != 1 || !strings.Contains(got, `"*.evil.test"`) || !strings.Contains(got, `"/theirs"`) || strings.Contains(got, "denyRead") {
		t.Errorf("left:\n%s", got)
	}
	if len(p.Notes) != 0 { // the changed host was in the notes before
		t.Errorf("%v", p.Notes)
	}
}

func TestSandboxSaysWhatWasChanged(t *testing.T) {
	at, h := machine(t), harnessOf(t, "claude-code")
	file, _ := at.File(h, User)
	mustSandbox(t, User, at, someDenies)
	put(t, file, strings.Replace(get(t, file), `"mode": "deny"`, `"mode": "mask"`, 1))
	p := mustSandbox(t, User, at, nil)
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0].Text, "credentials.files ~/.ssh/id_rsa was changed") || !strings.Contains(get(t, file), "mask") {
		t.Errorf("%v\n%s", p.Notes, get(t, file))
	}
}

// TestUninstallTakesTheDenies checks that an uninstallation removes the hook and the
// denies, in any order of installation.
func TestUninstallTakesTheDenies(t *testing.T) {
	for _, first := range []string{"hook", "denies"} {
		for _, text := range []string{"", "{\n  \"model\": \"x\"\n}\n"} {
			at, h := machine(t), harnessOf(t, "claude-code")
			file, _ := at.File(h, User)
			if text != "" {
				put(t, file, text)
			}
			if first == "denies" {
				mustSandbox(t, User, at, someDenies)
			}
			mustInstall(t, h, User, at, wanted)
			mustSandbox(t, User, at, someDenies)
			mustUninstall(t, h, User, at)
			data, err := os.ReadFile(file)
			if string(data) != text || (text == "") != errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s first, %q: left %q, %v", first, text, data, err)
			}
		}
	}
	at, h := machine(t), harnessOf(t, "claude-code")
	file, _ := at.File(h, Managed)
	mustSandbox(t, Managed, at, someDenies)
	mustUninstall(t, h, Managed, at)
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file of the machine stays")
	}
}

// TestSandboxRefuses checks that nothing is written into an unreadable file, a file with
// the switch off, or a project's file.
func TestSandboxRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{":                              "a key in double quotes is missing",
		"[]":                             "what holds sandbox.enabled must be an object",
		`{"sandbox": []}`:                "what holds sandbox.enabled must be an object",
		`{"sandbox": {}, "sandbox": {}}`: "with each key once",
		`{"sandbox": {"filesystem": {"denyRead": "~/x"}}}`: "what holds sandbox.filesystem.denyRead must be a list",
		`{"sandbox": {"enabled": false}}`:                  "sandbox.enabled is not true",
	} {
		at, h := machine(t), harnessOf(t, "claude-code")
		file, _ := at.File(h, User)
		put(t, file, text)
		if _, err := PlanSandbox(h, User, at, denying(someDenies...)); err == nil || !strings.Contains(err.Error(), want) || get(t, file) != text {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	at, h := machine(t), harnessOf(t, "claude-code")
	if _, err := PlanSandbox(h, Project, at, denying(someDenies...)); err == nil {
		t.Error("a project's file is written")
	}
	mustSandbox(t, User, at, someDenies)
	records, _ := filepath.Glob(filepath.Join(at.State, "compile", "*"))
	data := get(t, records[0])
	if err := os.WriteFile(records[0], []byte(strings.Replace(data, "/etc/x", "/etc/y", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanSandbox(h, User, at, denying()); err == nil || !strings.Contains(err.Error(), "was not written by your Cardea") {
		t.Errorf("a forged record: %v", err)
	}
	p, err := PlanUninstall(h, User, at)
	if err != nil || len(p.Notes) != 1 || !strings.Contains(p.Notes[0].Text, "the denies of the sandbox stay") {
		t.Errorf("%v, %v", p, err)
	}
}

// TestSandboxState checks that openings of the sandbox are reported, and which file
// switches it.
func TestSandboxState(t *testing.T) {
	at, h := machine(t), harnessOf(t, "claude-code")
	expect := func(on bool, by string, holes ...string) {
		t.Helper()
		gotOn, gotBy, got := Sandbox(h, at)
		if all := strings.Join(got, "\n"); gotOn != on || gotBy != by || len(got) != len(holes) || slices.ContainsFunc(holes, func(x string) bool { return !strings.Contains(all, x) }) {
			t.Errorf("%v, %s, %v", gotOn, gotBy, got)
		}
	}
	expect(false, "", "dangerouslyDisableSandbox")
	user, _ := at.File(h, User)
	project, _ := at.File(h, Project)
	put(t, user, `{"sandbox": {"enabled": true, "allowUnsandboxedCommands": false}}`)
	expect(true, user)
	put(t, project, `{"sandbox": {"enabled": false, "excludedCommands": ["docker *"], "allowNestedUserNamespaces": true, "filesystem": {"allowRead": ["~/"], "disabled": false}}}`)
	expect(false, project, `excludedCommands: ["docker *"]`, `allowRead: ["~/"]`, "allowNestedUserNamespaces: true")
	managed := filepath.Join(at.Machine[h.Name], "managed-settings.json")
	put(t, managed, `{"sandbox": {"enabled": true, "allowUnsandboxedCommands": false}}`)
	expect(true, managed)
}

// TestCodexSandbox checks that Codex's requirements get a separate part, and that
// everything else in them stays.
func TestCodexSandbox(t *testing.T) {
	apply := func(at Places, read ...string) (*Plan, error) {
		p, err := PlanCodexSandbox(at, read)
		if err == nil {
			err = p.Apply()
		}
		return p, err
	}
	for _, text := range []string{"", "# x\nallowed_web_search_modes = [\"disabled\"]\n[features]\nhooks = true", "[a]\n# filesystem\n"} {
		at := machine(t)
		file := filepath.Join(at.Machine["codex"], "requirements.toml")
		if text != "" {
			put(t, file, text)
		}
		if _, err := apply(at, "~/.ssh/id_rsa", `/a "b"`); err != nil {
			t.Fatal(err)
		}
		written := get(t, file)
		if !strings.HasPrefix(written, text) || !strings.Contains(written, "[permissions.filesystem]\ndeny_read = [\n  \"~/.ssh/id_rsa\",\n  \"/a \\\"b\\\"\"\n]\n") {
			t.Errorf("%q", written)
		}
		if p, err := apply(at, "~/.ssh/id_rsa", `/a "b"`); err != nil || p.Changed() {
			t.Errorf("twice: %v, %v", p.Diff(), err)
		}
		put(t, file, written+"[z]\n")
		if p, err := apply(at, "~/.ssh/id_rsa", `/a "b"`); err != nil || p.Changed() {
			t.Errorf("with more after it: %v, %v", p.Diff(), err)
		}
		put(t, file, written)
		if _, err := apply(at); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(file); string(data) != text || (text == "") != (err != nil) {
			t.Errorf("left %q, %v; want %q", data, err, text)
		}
	}
	at := machine(t)
	file := filepath.Join(at.Machine["codex"], "requirements.toml")
	for _, text := range []string{"[permissions.filesystem]\n", "permissions = { filesystem = {} }\n", "[permissions]\nfilesystem.deny_read = []\n"} {
		put(t, file, text)
		if _, err := apply(at, "/x"); err == nil || !strings.Contains(err.Error(), "by hand") || get(t, file) != text {
			t.Errorf("%s: %v", text, err)
		}
	}
	put(t, file, "")
	if _, err := apply(at, "/x"); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(get(t, file), `"/x"`, `"/y"`, 1)
	put(t, file, changed)
	for _, read := range [][]string{nil, {"/z"}} {
		if _, err := apply(at, read...); err == nil || !strings.Contains(err.Error(), "was changed without Cardea") || get(t, file) != changed {
			t.Errorf("%v: %s", err, get(t, file))
		}
	}
}
