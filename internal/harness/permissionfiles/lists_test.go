package permissionfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
)

func touch(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		if err := os.MkdirAll(filepath.Dir(n), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOf(t *testing.T) {
	base := t.TempDir()
	home, start, project := filepath.Join(base, "home"), filepath.Join(base, "p", "sub"), filepath.Join(base, "p")
	touch(t, filepath.Join(home, ".codex/rules/b.rules"), filepath.Join(home, ".codex/rules/a.rules"), filepath.Join(home, ".codex/rules/x.txt"),
		filepath.Join(home, ".gemini/policies/m.toml"), filepath.Join(project, ".codex/rules/p.rules"))
	for i := range maxFiles + 5 {
		touch(t, filepath.Join(start, ".codex/rules", fmt.Sprintf("%03d.rules", i)))
	}
	var person, theirs, machine int
	var own []string
	for _, s := range Of(home, start, project, "linux", nil) {
		switch s.Scope {
		case cardea.ScopeUser:
			person++
			rel, _ := filepath.Rel(home, s.File)
			own = append(own, s.Harness+" "+filepath.ToSlash(rel))
		case cardea.ScopeProject:
			theirs++
			if s.Project != start && s.Project != project || s.Source != s.Project {
				t.Errorf("%+v", s)
			}
		case cardea.ScopeSystem:
			machine++
			if !strings.HasPrefix(s.File, "/etc/") {
				t.Errorf("%+v", s)
			}
		}
	}
	for _, want := range []string{
		"codex .codex/rules/a.rules",
		"codex .codex/rules/b.rules",
		"gemini-cli .gemini/policies/m.toml",
		"opencode .config/opencode/opencode.json",
		"qwen-code .qwen/settings.json",
	} {
		if !slices.Contains(own, want) {
			t.Errorf("no %s in %q", want, own)
		}
	}
	if person != 8 || theirs != 14+maxFiles+1 || machine < 3 {
		t.Errorf("%d of the person, %d of projects, %d of the machine", person, theirs, machine)
	}
	if got := Of("", "", "", "windows", nil); len(got) != 3 || !strings.Contains(got[0].File, "ProgramData") {
		t.Errorf("%+v", got)
	}
	if got := Of("", "/w", "/w", "darwin", nil); len(got) != 3+7 || !strings.Contains(got[0].File, "QwenCode") {
		t.Errorf("%d: %+v", len(got), got)
	}
	if got := In(project, nil); len(got) != 8 {
		t.Errorf("%+v", got)
	}
}
