package project

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// machine returns a Linux machine with home in its password database. The paths in foreign
// belong to another user.
func machine(home string, vars map[string]string, foreign ...string) Machine {
	return Machine{
		OS:      "linux",
		Env:     func(k string) string { return vars[k] },
		Home:    func() (string, error) { return home, nil },
		Foreign: func(p string) bool { return slices.Contains(foreign, p) },
	}
}

func TestFindDirsByDefault(t *testing.T) {
	got, issues := FindDirs(machine("/none", map[string]string{"HOME": "/home/liam"}), "/work/app")
	want := Dirs{Home: "/home/liam", User: "/home/liam/.config/cardea", State: "/home/liam/.local/state/cardea",
		Cache: "/home/liam/.cache/cardea", Runtime: "/home/liam/.local/state/cardea/run", Claude: "/home/liam/.claude"}
	if !reflect.DeepEqual(got, want) || len(issues) != 0 {
		t.Errorf("got %+v, %v\nwant %+v", got, issues, want)
	}
}

func TestFindDirsByVariables(t *testing.T) {
	got, issues := FindDirs(machine("/none", map[string]string{"HOME": "/home/liam", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s",
		"XDG_CACHE_HOME": "/k", "XDG_RUNTIME_DIR": "/run/user/7", "CLAUDE_CONFIG_DIR": "/cl"}), "/work/app")
	want := Dirs{Home: "/home/liam", User: "/c/cardea", State: "/s/cardea", Cache: "/k/cardea", Runtime: "/run/user/7/cardea", Claude: "/cl"}
	if !reflect.DeepEqual(got, want) || len(issues) != 0 {
		t.Errorf("got %+v, %v\nwant %+v", got, issues, want)
	}
}

func TestFindDirsOfOtherPlatforms(t *testing.T) {
	for _, os := range []string{"darwin", "windows"} {
		m := machine("/none", map[string]string{"HOME": "/h", "USERPROFILE": "/h"})
		m.OS = os
		got, _ := FindDirs(m, "")
		sub := map[string]string{"darwin": "/h/Library/Application Support/cardea", "windows": "/h/AppData/Roaming/cardea"}[os]
		if got.User != sub || got.State == got.User || got.Cache == "" {
			t.Errorf("%s: %+v", os, got)
		}
	}
}

// TestFindDirsDoubtsVariables checks that folders named by a project's variables do not
// become the user's settings.
func TestFindDirsDoubtsVariables(t *testing.T) {
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CLAUDE_CONFIG_DIR"} {
		for value, why := range map[string]string{
			"/work/app":         "points into the project",
			"/work/app/x/../.c": "points into the project",
			"rel":               "absolute",
			"/other":            "another user",
		} {
			vars := map[string]string{"HOME": "/home/liam", name: value}
			got, issues := FindDirs(machine("/home/liam", vars, "/other"), "/work/app")
			plain, _ := FindDirs(machine("/home/liam", map[string]string{"HOME": "/home/liam"}), "/work/app")
			if doubted := got.Doubted; name == "XDG_CONFIG_HOME" && why == "points into the project" {
				if want := []string{filepath.Join(value, "cardea")}; !slices.Equal(doubted, want) {
					t.Errorf("%s=%s: what may only tighten is %v, want %v", name, value, doubted, want)
				}
				got.Doubted = nil
			}
			if !reflect.DeepEqual(got, plain) {
				t.Errorf("%s=%s is believed: %+v", name, value, got)
			}
			if len(issues) != 1 || !strings.Contains(issues[0].Error(), why) || !strings.Contains(issues[0].Error(), name) {
				t.Errorf("%s=%s: troubles %v, want one that says %q", name, value, issues, why)
			}
		}
	}
}

func TestFindDirsDoubtsHome(t *testing.T) {
	for _, value := range []string{"/work/app/home", "relative", "/other"} {
		got, issues := FindDirs(machine("/home/liam", map[string]string{"HOME": value}, "/other"), "/work/app")
		if got.Home != "/home/liam" || len(issues) != 1 {
			t.Errorf("HOME=%s: %+v, %v", value, got, issues)
		}
		if inside := value == "/work/app/home"; inside != slices.Equal(got.Doubted, []string{value + "/.config/cardea"}) || !inside && got.Doubted != nil {
			t.Errorf("HOME=%s: %v may only tighten", value, got.Doubted)
		}
	}
	// A session that began in the root folder has everything in its project.
	if got, issues := FindDirs(machine("/home/liam", map[string]string{"HOME": "/home/other"}), "/"); got.Home != "/home/other" || len(issues) != 0 {
		t.Errorf("project is /: %+v, %v", got, issues)
	}
	// A missing HOME is no reason to complain.
	if got, issues := FindDirs(machine("/home/liam", nil), "/work/app"); got.Home != "/home/liam" || len(issues) != 0 {
		t.Errorf("no HOME: %+v, %v", got, issues)
	}
	// In the home folder itself, HOME is rightly in the project.
	if got, issues := FindDirs(machine("/home/liam", map[string]string{"HOME": "/home/liam"}), "/home/liam"); got.Home != "/home/liam" || len(issues) != 0 {
		t.Errorf("project is home: %+v, %v", got, issues)
	}
}

func TestFindDirsWithoutAnyHome(t *testing.T) {
	m := machine("", map[string]string{"HOME": "/work/app/home"})
	m.Home = func() (string, error) { return "", errors.New("user: unknown userid 1234") }
	got, issues := FindDirs(m, "/work/app")
	if want := (Dirs{Doubted: []string{"/work/app/home/.config/cardea"}}); !reflect.DeepEqual(got, want) || len(issues) != 1 || !strings.Contains(issues[0].Error(), "unknown userid") {
		t.Errorf("got %+v, %v", got, issues)
	}
}

func TestFindDirsSeesThroughLinks(t *testing.T) {
	base := realTemp(t)
	project, outside := filepath.Join(base, "app"), filepath.Join(base, "outside")
	mkdir(t, filepath.Join(project, "evil"))
	if err := os.Symlink(filepath.Join(project, "evil"), outside); err != nil {
		t.Skip(err)
	}
	vars := map[string]string{"HOME": "/home/liam", "XDG_CONFIG_HOME": filepath.Join(outside, "not", "yet")}
	got, issues := FindDirs(machine("/home/liam", vars), project)
	if got.User != "/home/liam/.config/cardea" || len(issues) != 1 {
		t.Errorf("a link into the project is believed: %+v, %v", got, issues)
	}
}

func TestThisMachine(t *testing.T) {
	m := ThisMachine(func(string) string { return "" })
	if home, err := m.Home(); err == nil && !filepath.IsAbs(home) {
		t.Errorf("home %q", home)
	}
	dir := t.TempDir()
	if m.Foreign(dir) || m.Foreign(filepath.Join(dir, "none")) {
		t.Error("one's own folder, or none, is foreign")
	}
	if runtime.GOOS != "windows" && os.Geteuid() == 0 {
		if err := os.Chown(dir, 12345, 12345); err == nil && !m.Foreign(dir) {
			t.Error("another user's folder is not foreign")
		}
	}
}

func TestRefuseState(t *testing.T) {
	m := machine("/home/liam", nil, "/other")
	for _, c := range []struct{ dir, project, home, want string }{
		{"/home/liam/.local/state/cardea", "/work/app", "/home/liam", ""},
		{"/work/app/state", "/work/app", "/home/liam", "lies in the project"},
		{"/home/liam/.local/state/cardea", "/home/liam", "/home/liam", ""},
		{"/home/liam/.local/state/cardea", "/home/liam/.local", "/home/liam", "lies in the project"},
		{"/other", "/work/app", "/home/liam", "belongs to another user"},
		{"/state", "", "/home/liam", ""},
	} {
		if got := m.RefuseState(c.dir, c.project, c.home); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestFindDirsDoubtsAllProjects checks that a session's first project is as untrusted as
// that around its current folder.
func TestFindDirsDoubtsAllProjects(t *testing.T) {
	vars := map[string]string{"HOME": "/home/liam", "XDG_STATE_HOME": "/work/lib/s", "XDG_CONFIG_HOME": "/work/app/c"}
	if got, issues := FindDirs(machine("/home/liam", vars), "/work/app", "/work/lib", ""); len(issues) != 2 {
		t.Errorf("got %+v, %v", got, issues)
	}
}

func TestFindProject(t *testing.T) {
	base := realTemp(t)
	home := filepath.Join(base, "home")
	app := filepath.Join(home, "app")
	mkdir(t, filepath.Join(app, ".git"))
	mkdir(t, filepath.Join(app, "deep", "er"))
	mkdir(t, filepath.Join(app, "nested", ".cardea"))
	mkdir(t, filepath.Join(home, ".git"))
	mkdir(t, filepath.Join(home, "plain", "sub"))
	mkdir(t, filepath.Join(base, ".cardea"))
	for start, want := range map[string]string{
		app:                               app,
		filepath.Join(app, "deep", "er"):  app,
		filepath.Join(app, "nested"):      filepath.Join(app, "nested"),
		filepath.Join(app, "gone", "x"):   app,
		filepath.Join(home, "plain/sub"):  filepath.Join(home, "plain/sub"),
		home:                              home,
		base:                              base,
		"":                                "",
		filepath.Join(base, "other", "y"): filepath.Join(base, "other", "y"),
	} {
		if got := FindIn(nil, start, home); got != want {
			t.Errorf("FindProject(%s) = %s, want %s", start, got, want)
		}
	}
}

func TestSessionStart(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		env, want string
		told      bool
	}{{"", "/first", false}, {dir, dir, false}, {"relative", "/first", true}, {filepath.Join(dir, "none"), "/first", true}} {
		got, told := SessionStart(func(string) string { return c.env }, "/first")
		if got != c.want || (told != "") != c.told {
			t.Errorf("%q: %s, %q", c.env, got, told)
		}
	}
}

func TestSurroundings(t *testing.T) {
	base := realTemp(t)
	home := filepath.Join(base, "home")
	app, lib, dotfiles := filepath.Join(home, "app"), filepath.Join(home, "lib"), filepath.Join(home, ".cardea")
	mkdir(t, filepath.Join(app, ".cardea"))
	mkdir(t, filepath.Join(lib, ".cardea"))
	mkdir(t, dotfiles)
	paths := []string{app, filepath.Join(app, "a", "b"), filepath.Join(lib, "x"), filepath.Join(lib, "y"), lib, "", "rel", filepath.Join(home, "z"), "/etc/hosts"}
	got, complete := Surroundings(nil, paths, home, []string{".cardea"}, app)
	if !slices.Equal(got, []string{lib}) || !complete {
		t.Errorf("got %v, %v; want only %s", got, complete, lib)
	}
}

// TestSurroundingsAreBounded checks that padding a call with paths does not hide one
// without notice.
func TestSurroundingsAreBounded(t *testing.T) {
	base := realTemp(t)
	var many []string
	for i := range MaxSurroundings + 1 {
		dir := filepath.Join(base, string(rune('a'+i)))
		mkdir(t, filepath.Join(dir, ".cardea"))
		many = append(many, filepath.Join(dir, "f"))
	}
	if got, complete := Surroundings(nil, many, "/home/liam", []string{".cardea"}); len(got) != MaxSurroundings || complete {
		t.Errorf("%d projects, complete %v", len(got), complete)
	}
	var deep []string
	for i := range 4 {
		deep = append(deep, filepath.Join(base, strings.Repeat(string(rune('a'+i))+"/", maxPath/2-len(base))))
	}
	if _, complete := Surroundings(nil, deep, "/home/liam", []string{".cardea"}); complete {
		t.Error("paths of thousands of folders count as looked through")
	}
	text := []string{filepath.Join(base, "a", strings.Repeat("x/", 1<<20))} // the script of a program, say
	if got, complete := Surroundings(nil, text, "/home/liam", []string{".cardea"}); len(got) != 1 || !complete {
		t.Errorf("%v, complete %v of a text that is no path", got, complete)
	}
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
