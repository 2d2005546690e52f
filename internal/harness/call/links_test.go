package call

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
)

// linked makes folders, files and links in a throw-away folder: names that end
// in a slash are folders, "a -> b" is a link.
func linked(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		at, target, isLink := strings.Cut(name, " -> ")
		at = filepath.Join(dir, at)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Every place to which a path may lead is an access: where the kernel goes, and
// where a program goes that takes ".." off first.
func TestAccessesThroughLinks(t *testing.T) {
	dir := linked(t, "proj/src/", "proj/lib -> ../elsewhere", "out/deep/", "elsewhere/", "secret/", "proj/src/lib -> ../../secret")
	if err := os.Symlink(filepath.Join(dir, "out/deep"), filepath.Join(dir, "proj/src/o")); err != nil {
		t.Fatal(err)
	}
	call := func(tool string, input map[string]any) []string {
		ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: dir + "/proj", Project: dir + "/proj", Call: &cardea.Call{Tool: tool, Input: input}}
		ev = Analyse(ev, knowledge.System{Resolve: paths.Resolve})
		var out []string
		for _, p := range ev.Call.Parts {
			for _, a := range p.Access {
				out = append(out, strings.TrimPrefix(string(a.Kind)+" "+strings.TrimPrefix(a.Path, dir)+" "+strings.TrimPrefix(a.Spelled, dir), dir))
			}
		}
		return out
	}
	bash := func(line string) []string { return call("Bash", map[string]any{"command": line}) }
	for _, tt := range []struct {
		name string
		got  []string
		want []string
	}{
		{"read", bash("cat src/o/../hostname"), []string{"read /out/hostname /proj/src/hostname", "read /proj/src/hostname "}},
		{"redirection", bash("printf x > src/o/../zz"), []string{"write /out/zz /proj/src/zz", "write /proj/src/zz "}},
		{"program", bash("src/o/../x"), []string{"execute /out/x /proj/src/x", "execute /proj/src/x ", "unknown  "}},
		{"pattern", bash("cat src/o/../*"), []string{"read /out /proj/src", "read /proj/src "}},
		{"a pattern that climbs", bash("cat src/*/../../x"), []string{"read  "}},
		{"Write", call("Write", map[string]any{"file_path": "src/o/../zz"}), []string{"write /out/zz /proj/src/zz", "write /proj/src/zz "}},
		// Neither of the two is what the letters say.
		{"two links", call("Write", map[string]any{"file_path": "src/o/../lib/x"}), []string{"write /out/lib/x /proj/src/lib/x", "write /secret/x /proj/src/lib/x"}},
		{"patch", call("apply_patch", map[string]any{"input": "*** Update File: src/o/../a\n*** Move to: b\n"}),
			[]string{
				"write /out/a /proj/src/a",
				"write /proj/src/a ",
				"delete /out/a /proj/src/a",
				"delete /proj/src/a ",
				"write /proj/b ",
			},
		},
		{"no link", bash("cat src/../x"), []string{"read /proj/x "}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

// A root that cannot be resolved is ignored; it does not make everything part of the work.
func TestRootsThatAreNotKnown(t *testing.T) {
	dir := linked(t, "loop -> loop")
	ev := &cardea.Event{Cwd: "/elsewhere", Project: dir + "/loop", Roots: []string{"", dir + "/loop/x"},
		Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": "ls > /elsewhere/new.log; cd /elsewhere"}}}
	ev = Analyse(ev, knowledge.System{Resolve: paths.Resolve, IsNew: func(string) bool { return true }})
	for _, p := range ev.Call.Parts {
		for _, a := range p.Access {
			if a.Fresh || p.NoEffect {
				t.Errorf("%s: %+v", p.Text, a)
			}
		}
		if p.NoEffect {
			t.Errorf("%s is null", p.Text)
		}
	}
}
