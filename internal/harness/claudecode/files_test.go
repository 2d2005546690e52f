package claudecode_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/conformance"
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

func asks(dir string) claudecode.Asks {
	return claudecode.AskEntries(filepath.Join(dir, "home"), filepath.Join(dir, "repo", "sub"), filepath.Join(dir, "etc"))
}

func TestAskEntriesFromEveryFile(t *testing.T) {
	dir := files(t, map[string]string{
		"home/settings.json":                   `{"permissions":{"ask":["Bash(git push *)"],"deny":["WebSearch"]}}`,
		"repo/.git/HEAD":                       "",
		"repo/.claude/settings.local.json":     `{"permissions":{"ask":["WebFetch"]},"permissions":{"ask":["Skill(x)"]}}`,
		"repo/sub/.claude/settings.json":       `{"permissions":{"ask":["mcp__github"],"ask":["mcp__git*__x"]}}`,
		"etc/managed-settings.json":            `{"permissions":{"allow":["Read"]}}`,
		"etc/managed-settings.d/10-first.json": `{"permissions":{"ask":["Agent(Explore)"]}}`,
	})
	a := asks(dir)
	var rules []string
	for _, e := range a.Entries {
		rules = append(rules, e.Rule)
		if !strings.HasPrefix(e.File, dir) {
			t.Errorf("%+v", e)
		}
	}
	slices.Sort(rules)
	if want := []string{"Agent(Explore)", "Bash(git push *)", "Skill(x)", "WebFetch", "mcp__git*__x", "mcp__github"}; !slices.Equal(rules, want) || len(a.Problems) > 0 {
		t.Fatalf("%q, problems %v", rules, a.Problems)
	}
	for tool, want := range map[string]bool{"Bash": true, "Monitor": true, "WebFetch": true, "WebSearch": false, "Read": false, "Write": false,
		"mcp__github__get_me": true, "mcp__gitlab__x": true, "mcp__gitlab__y": false, "mcp__other__x": false, "Agent": true, "Skill": true} {
		if got := a.MayConcern(tool); got != want {
			t.Errorf("%s: %v", tool, got)
		}
	}
}

func TestRulesThatMayConcern(t *testing.T) {
	for rule, tools := range map[string]string{
		"*": "Bash Write mcp__a__b", "B*": "Bash", "Bash(*)": "Bash", "Edit(src/**)": "Write MultiEdit NotebookEdit apply_patch Bash Edit",
		"Read(./.env)": "Grep Glob Read Bash Edit Write", "Task(x)": "Agent", "mcp__*": "mcp__a__b", "mcp__a__*": "mcp__a__b", "[": "Bash",
		"": "Bash", "Bash(x": "Bash Write", " WebFetch (domain:x)": "WebFetch",
	} {
		dir := files(t, map[string]string{"home/settings.json": `{"permissions":{"ask":["` + rule + `"]}}`})
		for _, tool := range strings.Fields(tools) {
			if !asks(dir).MayConcern(tool) {
				t.Errorf("%q may concern %s", rule, tool)
			}
		}
		if rule != "*" && rule != "[" && rule != "" && rule != "Bash(x" && asks(dir).MayConcern("TodoWrite") {
			t.Errorf("%q does not concern TodoWrite", rule)
		}
	}
}

func TestUnreadableSettingsMayConcernAll(t *testing.T) {
	for _, text := range []string{"", "[]", "{", `{"permissions":[]}`, `{"permissions":{"ask":"Bash"}}`, `{"permissions":{"ask":[1]}}`} {
		dir := files(t, map[string]string{"repo/sub/.claude/settings.json": text})
		a := asks(dir)
		if !a.MayConcern("TodoWrite") || len(a.Problems) != 1 || !strings.Contains(a.Problems[0], "settings.json") {
			t.Errorf("%q: %+v", text, a)
		}
	}
	if a := asks(t.TempDir()); a.MayConcern("Bash") || len(a.Problems) > 0 {
		t.Errorf("no files: %+v", a)
	}
	if a := claudecode.AskEntries("", "", ""); len(a.Entries)+len(a.Problems) > 0 {
		t.Errorf("no folders: %+v", a)
	}
}

// A pipe in the place of a settings file would stop the hook for good.
func TestSettingsThatAreNoFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no named pipes in folders")
	}
	dir := files(t, map[string]string{"repo/sub/.claude/x": ""})
	if err := mkfifo(filepath.Join(dir, "repo", "sub", ".claude", "settings.json")); err != nil {
		t.Fatal(err)
	}
	if a := asks(dir); !a.MayConcern("Bash") || len(a.Problems) != 1 {
		t.Errorf("%+v", a)
	}
	dir = files(t, map[string]string{"repo/sub/.claude/settings.json/x": "", "home/settings.json": strings.Repeat(" ", 5<<20)})
	if a := asks(dir); len(a.Problems) != 2 {
		t.Errorf("%+v", a)
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
	roots, problems := claudecode.PluginRoots(filepath.Join(dir, "home"), filepath.Join(dir, "repo"), "")
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
		_, problems := claudecode.PluginRoots(filepath.Join(dir, "home"), "", "")
		if len(problems) != 2 || !strings.Contains(problems[0], "settings.json") || !strings.Contains(problems[1], word) {
			t.Errorf("%s: %q", text, problems)
		}
	}
	if roots, problems := claudecode.PluginRoots(t.TempDir(), "", ""); len(roots)+len(problems) > 0 {
		t.Errorf("nothing installed: %v %v", roots, problems)
	}
	if roots, problems := claudecode.PluginRoots("", "", ""); len(roots)+len(problems) > 0 {
		t.Errorf("no folder: %v %v", roots, problems)
	}
}

func TestHookMatches(t *testing.T) {
	word := func(s string) *string { return &s }
	cases := []struct {
		matcher *string
		value   string
		want    bool
	}{
		{nil, "Bash", true}, {word(""), "Bash", true}, {word("*"), "Bash", true}, {word("Bash"), "BashOutput", false},
		{word("Edit, Write"), "Write", true}, {word("Edit|Write"), "Read", false}, {word("mcp__memory"), "mcp__memory__x", false},
		{word("mcp__memory__.*"), "mcp__memory__x", true}, {word("^Note"), "NotebookEdit", true}, {word("(?=x)"), "x", false},
	}
	for _, c := range cases {
		if got := claudecode.HookMatches(c.matcher, c.value); got != c.want {
			t.Errorf("%v, %s: %v", c.matcher, c.value, got)
		}
	}
}

func TestHookMatchesVectors(t *testing.T) {
	var vectors []struct {
		Matcher    *string
		Value, Why string
		Match      bool
	}
	conformance.ReadJSON(t, &vectors, "payloads", "_vectors", "claude-hook-matchers.json")
	if len(vectors) < 10 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		if got := claudecode.HookMatches(v.Matcher, v.Value); got != v.Match {
			t.Errorf("%s: %v", v.Why, got)
		}
	}
}
