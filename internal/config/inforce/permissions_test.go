package inforce_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/internal/hook/gate"
)

// lists writes text into a settings file of Claude Code below the site's base, and loads
// the place.
func (s *fixture) lists(files map[string]string) {
	s.t.Helper()
	base := filepath.Dir(s.where.Project)
	for name, text := range files {
		write(s.t, filepath.Join(base, filepath.FromSlash(name)), text)
	}
	s.where.Start = s.where.Project
	s.where.Dirs.Claude = filepath.Join(base, "home", ".claude")
	s.where.Lists = claudecode.Lists(s.where.Dirs.Claude, s.where.Start, filepath.Join(base, "etc"), nil)
	s.where.ListsIn = claudecode.ProjectLists
}

const expand = "permissions: {expand: true}\n"

func TestListsByScope(t *testing.T) {
	allowA := `{"permissions":{"allow":["Bash(a)"]}}`
	for _, tt := range []struct {
		name  string
		files map[string]string
		do    func(*fixture)
		want  cardea.Effect
		why   string
	}{
		{"user", map[string]string{"home/.claude/settings.json": allowA}, nil, cardea.Allow, ""},
		{"local", map[string]string{"app/.claude/settings.local.json": allowA}, nil, cardea.Allow, ""},
		{"tracked", map[string]string{"app/.claude/settings.local.json": allowA}, func(s *fixture) { s.where.Tracked = func(string) bool { return true } }, cardea.Abstain, "git tracks the file"},
		{"project", map[string]string{"app/.claude/settings.json": allowA}, nil, cardea.Abstain, "the project is not trusted"},
		{"trusted", map[string]string{"app/.claude/settings.json": allowA}, func(s *fixture) { s.where.Trust = all }, cardea.Allow, ""},
		{"changed", map[string]string{"app/.claude/settings.json": allowA}, func(s *fixture) { s.where.Trust = func(string, []byte) bool { return false } }, cardea.Abstain, "not as you trusted it"},
		{"managed", map[string]string{"etc/managed-settings.json": allowA}, nil, cardea.Allow, ""},
		{"managed by somebody", map[string]string{"etc/managed-settings.d/1.json": allowA}, func(s *fixture) {
			s.where.Guarded = func(p string) string {
				if strings.HasSuffix(p, "1.json") {
					return "does not belong to root"
				}
				return ""
			}
		}, cardea.Abstain, "does not belong to root"},
		{
			"managed only",
			map[string]string{"home/.claude/settings.json": allowA, "etc/managed-settings.json": `{"allowManagedPermissionRulesOnly":true,"permissions":{"allow":["Bash(b)"]}}`},
			nil,
			cardea.Abstain,
			"only their own entries allow",
		},
		{"not managed", map[string]string{"home/.claude/settings.json": `{"allowManagedPermissionRulesOnly":true,"permissions":{"allow":["Bash(a)"]}}`}, nil, cardea.Allow, ""},
		{"an ask of anybody", map[string]string{"home/.claude/settings.json": allowA, "app/.claude/settings.json": `{"permissions":{"ask":["Bash(a)"]}}`}, nil, cardea.Ask, ""},
		{"a deny of anybody", map[string]string{"etc/managed-settings.json": allowA, "app/.claude/settings.local.json": `{"permissions":{"deny":["Bash(a)"]}}`}, nil, cardea.Deny, ""},
		{"nested", map[string]string{}, func(s *fixture) {
			s.where.Lists = claudecode.Flags{Allowed: []string{"Bash(a)"}, Nested: true}.Lists(s.where.Start)
		}, cardea.Abstain, "an agent started this one"},
		{"flags", map[string]string{}, func(s *fixture) {
			s.where.Lists = claudecode.Flags{Allowed: []string{"Bash(a)"}}.Lists(s.where.Start)
		}, cardea.Allow, ""},
		{"off", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) { s.user("cardea.yaml", "version: 1\n") }, cardea.Abstain, ""},
		{"a variable that nobody believes", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", "version: 1\n")
			s.where.Env = set("CARDEA_PERMISSIONS", "1")
		}, cardea.Abstain, ""},
		{"a variable", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", "from_env: [permissions]\n")
			s.where.Env = set("CARDEA_PERMISSIONS", "1")
		}, cardea.Allow, ""},
		{"Permitter's variable, by its name", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", "from_env: [PERMITTER_ENABLED]\n")
			s.where.Env = set("PERMITTER_ENABLED", "1")
		}, cardea.Allow, ""},
		{"Permitter's variable, which only 1 switches on", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", "from_env: [PERMITTER_ENABLED]\n")
			s.where.Env = set("PERMITTER_ENABLED", "yes")
		}, cardea.Abstain, ""},
		{"Permitter's variable, under the word of another", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", "from_env: [permissions, PERMITTER_STRICT]\n")
			s.where.Env = set("PERMITTER_ENABLED", "1")
		}, cardea.Abstain, ""},
		{"Permitter switched off", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", expand+"from_env: [ENSEMBLE_PERMITTER_DISABLE]\n")
			s.where.Env = set("ENSEMBLE_PERMITTER_DISABLE", "1")
		}, cardea.Abstain, ""},
		{"a variable that the project believes", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", "version: 1\n")
			s.project("cardea.yaml", "from_env: [permissions]\n")
			s.where.Env, s.where.Trust = set("CARDEA_PERMISSIONS", "1"), all
		}, cardea.Abstain, ""},
		{"a project that is not trusted", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.user("cardea.yaml", "version: 1\n")
			s.project("cardea.yaml", expand)
		}, cardea.Abstain, ""},
		{"a project that switches it off", map[string]string{"home/.claude/settings.json": allowA}, func(s *fixture) {
			s.project("cardea.yaml", "permissions: {expand: false}\n")
			s.where.Trust = all
		}, cardea.Abstain, ""},
	} {
		s := newFixture(t)
		s.user("cardea.yaml", expand)
		s.lists(tt.files)
		if tt.do != nil {
			tt.do(s)
		}
		l := inforce.Load(s.where)
		if got := s.judgeFor(l, "a"); got.Effect != tt.want {
			t.Errorf("%s: %s by %s, want %s", tt.name, got.Effect, got.By, tt.want)
		}
		if text := fmt.Sprint(l.Uncounted()); !strings.Contains(text, tt.why) {
			t.Errorf("%s: %q does not say %q", tt.name, text, tt.why)
		}
	}
}

// judgeFor evaluates a call of Claude Code.
func (s *fixture) judgeFor(l *inforce.Loaded, command string) cardea.Verdict {
	system := knowledge.System{Home: s.where.Dirs.Home, Resolve: paths.Resolve}
	analyse := func(ev *cardea.Event) *cardea.Event { return call.Analyse(ev, system) }
	return gate.Build(l, gate.SessionFacts{}, analyse, nil).Decide(context.Background(), analyse(&cardea.Event{
		Kind:    cardea.PreToolUse,
		Harness: claudecode.Name,
		Cwd:     s.where.Project,
		Project: s.where.Project,
		Call:    &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": command}}}))
}

// TestLastGoodFormsOfLists checks that a file with a secret outside its permissions has a
// last good form, which contains only the permissions.
func TestLastGoodFormsOfLists(t *testing.T) {
	s := newKeeper(t)
	s.user("cardea.yaml", expand)
	s.lists(map[string]string{"home/.claude/settings.json": `{"env":{"TOKEN":"ghp_012345678901234567890123456789abcdef"},"permissions":{"allow":["Bash(a)"],"deny":["Bash(b)"]}}`})
	load := func() *inforce.Loaded {
		l := inforce.Load(s.where)
		if err := l.Keep(redact.New(), neverLate); err != nil {
			t.Fatal(err)
		}
		return l
	}
	load()
	for path := range s.forms() {
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "ghp_") {
			t.Errorf("%s: %v", path, err)
		}
	}
	file := filepath.Join(s.where.Dirs.Claude, "settings.json")
	for _, broken := range []string{"{", `{"permissions":{"deny":[1]}}`} {
		write(t, file, broken)
		l := load()
		if a, b := s.judgeFor(l, "a"), s.judgeFor(l, "b"); a.Effect != cardea.Allow || b.Effect != cardea.Deny {
			t.Errorf("%s: %s and %s", broken, a.Effect, b.Effect)
		}
		if text := problemText(l); !strings.Contains(text, "its last good form is in force until then") {
			t.Errorf("%s: %s", broken, text)
		}
		if l.NativeAsk(&cardea.Call{Tool: "Bash"}) || len(l.Unreadable()) > 0 {
			t.Errorf("%s: the last good form is not believed", broken)
		}
	}
	// What the user removed stays removed.
	write(t, file, `{"model":"x"}`)
	load()
	write(t, file, "{")
	if a, b := s.judgeFor(load(), "a"), s.judgeFor(load(), "b"); a.Effect == cardea.Allow || b.Effect == cardea.Deny {
		t.Errorf("what was taken out is back: %s and %s", a.Effect, b.Effect)
	}
	// A removed file no longer applies.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := s.judgeFor(load(), "b"); got.Effect == cardea.Deny {
		t.Errorf("%s", got.Effect)
	}
}

func TestWhatFollowsFromLists(t *testing.T) {
	s := newFixture(t)
	s.lists(map[string]string{
		"home/.claude/settings.json": `{"permissions":{"deny":["Read(./.env)","Read","Read(x/..)","Bash(x"],"ask":["Bash(git push \"x\")",` +
			`"Bash(plain)"],"additionalDirectories":["/srv","~/docs","../rel"]}}`,
		"app/.claude/settings.local.json": `{"permissions":{"additionalDirectories":["/etc"],"ask":["Read(y)"]}}`,
		"app/.claude/settings.json":       `{"permissions":{"additionalDirectories":["/usr"]}}`,
	})
	l := inforce.Load(s.where)
	if got, want := l.AdditionalDirs(), []string{"/srv", s.where.Dirs.Home + "/docs"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := l.Unreadable(), []string{"y", "./.env", "**", "**"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !l.NativeAsk(&cardea.Call{Tool: "Bash"}) || l.NativeAsk(&cardea.Call{Tool: "Read"}) {
		t.Error("an entry with quotes may ask natively, one of paths is read here")
	}
	for _, want := range []string{`the entry "Read(x/..)" denies nothing`, `the entry "Bash(x" denies nothing`} {
		if !strings.Contains(problemText(l), want) {
			t.Errorf("not told: %s", want)
		}
	}
	broken := newFixture(t)
	broken.lists(map[string]string{"home/.claude/settings.json": "{"})
	if l := inforce.Load(broken.where); !l.NativeAsk(&cardea.Call{Tool: "WebFetch"}) || !slices.Equal(l.Unreadable(), []string{"**"}) {
		t.Error("a broken file may say anything")
	}
}

func TestListsNearby(t *testing.T) {
	s := newFixture(t)
	s.user("cardea.yaml", expand)
	deny := `{"permissions":{"deny":["Bash(b:*)"],"allow":["Bash(a:*)"]}}`
	s.lists(map[string]string{
		"other/.claude/settings.json":       deny,
		"third/.claude/settings.local.json": "{",
		"home/.claude/settings.json":        `{"permissions":{"allow":["Bash(a:*)","Bash(b:*)","Bash(cp:*)"]}}`,
	})
	l := inforce.Load(s.where)
	for command, want := range map[string]cardea.Effect{
		"b": cardea.Allow, "cd ../other && b": cardea.Deny, "b; cp ../other/x y": cardea.Deny, "cp ../other/x y; a": cardea.Allow, "cp ../third/x y": cardea.Ask,
	} {
		if got := s.judgeFor(l, command); got.Effect != want {
			t.Errorf("%s: %s by %s, want %s", command, got.Effect, got.By, want)
		}
	}
	var many []string
	for i := range project.MaxSurroundings + 1 {
		dir := filepath.Join(filepath.Dir(s.where.Project), "many", strings.Repeat("x", i+1))
		mkdir(t, filepath.Join(dir, ".claude"))
		many = append(many, dir+"/f")
	}
	if got := s.judgeFor(l, "cp "+strings.Join(many, " ")+" ."); got.By != "permissions:surroundings" {
		t.Errorf("%s by %s", got.Effect, got.By)
	}
	if got := (&inforce.Loaded{Where: inforce.Where{}}); got.Expands() || len(got.AddedDirs()) > 0 {
		t.Error("nothing loaded")
	}
	l.Where.ListsIn = func(string) []permissionlist.Source { return nil }
	if got := s.judgeFor(l, "b; cp ../other/x y"); got.Effect != cardea.Allow {
		t.Errorf("%s", got.Effect)
	}
}

// set is an environment of one variable.
func set(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	}
}
