package claudecode_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
)

// files writes a tree of files below a new folder.
func files(t *testing.T, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "$DIR", filepath.ToSlash(dir))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Lists come strongest first, each with whose they are and what their paths are
// relative to; folders between that of the session and the repository's root
// count.
func TestListsOfEveryFolder(t *testing.T) {
	dir := files(t, map[string]string{"repo/.git/HEAD": "", "etc/managed-settings.d/20.json": "{}", "etc/managed-settings.d/10.json": "{}"})
	start := filepath.Join(dir, "repo", "a", "b")
	var got []string
	for _, s := range claudecode.Lists(filepath.Join(dir, "home"), start, filepath.Join(dir, "etc"), nil) {
		rel, err := filepath.Rel(dir, s.File)
		if err != nil {
			t.Fatal(err)
		}
		source, err := filepath.Rel(dir, s.Source)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel)+" "+s.Scope.String()+" "+filepath.ToSlash(source))
	}
	want := []string{
		"etc/managed-settings.json system etc",
		"etc/managed-settings.d/10.json system etc/managed-settings.d",
		"etc/managed-settings.d/20.json system etc/managed-settings.d",
		"repo/a/b/.claude/settings.local.json user repo/a/b",
		"repo/a/.claude/settings.local.json user repo/a/b",
		"repo/.claude/settings.local.json user repo/a/b",
		"repo/a/b/.claude/settings.json project repo/a/b",
		"repo/a/.claude/settings.json project repo/a",
		"repo/.claude/settings.json project repo",
		"home/settings.json user home",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := claudecode.Lists("", "", "", nil); len(got) > 0 {
		t.Errorf("no folders: %v", got)
	}
	// Without a repository only the session's own folder applies, and the person's settings are not
	// a project's.
	lone := filepath.Join(dir, "home2")
	if got := claudecode.Lists(filepath.Join(lone, ".claude"), lone, "", nil); len(got) != 2 || got[1].Scope != cardea.ScopeUser {
		t.Errorf("in the home folder: %+v", got)
	}
}

// A pipe in the place of a settings file would stop the hook for good.
func TestSettingsThatAreNoFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no named pipes in folders")
	}
	dir := files(t, map[string]string{"repo/sub/.claude/x": "", "home/plugins/x": ""})
	for _, name := range []string{"repo/sub/.claude/settings.json", "home/plugins/installed_plugins.json"} {
		if err := mkfifo(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	if _, problems := claudecode.PluginRoots(filepath.Join(dir, "home"), filepath.Join(dir, "repo", "sub"), "", nil); len(problems) != 1 || !strings.Contains(problems[0], "no regular file") {
		t.Errorf("%q", problems)
	}
}

func TestManagedDir(t *testing.T) {
	seen := map[string]bool{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		seen[claudecode.ManagedDir(goos)] = true
	}
	if len(seen) != 3 || !seen["/etc/claude-code"] {
		t.Errorf("%v", seen)
	}
}

func TestPluginRoots(t *testing.T) {
	dir := files(t, map[string]string{
		"home/plugins/installed_plugins.json": `{"version":2,"plugins":{
			"user@m":[{"scope":"user","installPath":"$DIR/in/user"}],
			"twice@m":[{"scope":"user","installPath":"$DIR/in/user/"}],
			"here@m":[{"scope":"project","installPath":"$DIR/in/here","projectPath":"$DIR/repo"}],
			"there@m":[{"scope":"project","installPath":"$DIR/in/there","projectPath":"$DIR/other"}],
			"near@m":[{"scope":"local","installPath":"$DIR/in/near","projectPath":"$DIR/rep"}],
			"offuser@m":[{"scope":"user","installPath":"$DIR/in/offuser"}],
			"offlocal@m":[{"scope":"user","installPath":"$DIR/in/offlocal"}],
			"guard@m":[{"scope":"user","installPath":"$DIR/in/guard"}],
			"offhere@m":[{"scope":"project","installPath":"$DIR/in/offhere","projectPath":"$DIR/repo"}],
			"onagain@m":[{"scope":"user","installPath":"$DIR/in/onagain"}],
			"old@m":{"installPath":"$DIR/in/old"},
			"relative@m":[{"scope":"user","installPath":"in/relative"}],
			"broken@m":[7]}}`,
		"home/settings.json":                               `{"enabledPlugins":{"user@m":true,"offuser@m":false,"onagain@m":false}}`,
		"repo/.claude/settings.json":                       `{"enabledPlugins":{"guard@m":false,"offhere@m":false,"onagain@m":true,"user@m":"no"}}`,
		"repo/.claude/settings.local.json":                 `{"enabledPlugins":{"offlocal@m":false}}`,
		"home/plugins/byhand/hooks/x":                      "",
		"home/plugins/routes/hooks/tool-routes.yaml":       "",
		"home/plugins/manifest/.claude-plugin/plugin.json": "{}",
	})
	roots, problems := claudecode.PluginRoots(filepath.Join(dir, "home"), filepath.Join(dir, "repo"), "", nil)
	var got []string
	for _, r := range roots {
		rel, err := filepath.Rel(dir, r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	want := []string{"home/plugins/manifest", "home/plugins/routes", "in/guard", "in/here", "in/old", "in/onagain", "in/user"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(problems) != 2 || !strings.Contains(problems[0], "relative@m") || !strings.Contains(problems[1], "broken@m") {
		t.Errorf("%q", problems)
	}
}

func TestPluginRootsProblems(t *testing.T) {
	for text, word := range map[string]string{"{": "no JSON object", `{"plugins":[]}`: "plugins is no object"} {
		dir := files(t, map[string]string{"home/plugins/installed_plugins.json": text, "home/settings.json": "["})
		_, problems := claudecode.PluginRoots(filepath.Join(dir, "home"), "", "", nil)
		if len(problems) != 1 || !strings.Contains(problems[0], word) {
			t.Errorf("%s: %q", text, problems)
		}
	}
	if roots, problems := claudecode.PluginRoots(t.TempDir(), "", "", nil); len(roots)+len(problems) > 0 {
		t.Errorf("nothing installed: %v %v", roots, problems)
	}
	if roots, problems := claudecode.PluginRoots("", "", "", nil); len(roots)+len(problems) > 0 {
		t.Errorf("no folder: %v %v", roots, problems)
	}
}
