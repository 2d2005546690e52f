package posture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hooks takes the first line of a file for its hooks.
func hooks(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	line, _, _ := strings.Cut(string(data), "\n")
	return []byte(line), err
}

func TestChanged(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"program", "settings", "rule", "harness", "elsewhere"} {
		put(t, at(name), name+"\nrest")
	}
	files, hookFiles := []string{at("program"), at("settings"), at("rule"), at("none")}, []string{at("harness")}
	if p, err := Load(folder); p != nil || err != nil {
		t.Errorf("nothing was kept: %v, %v", p, err)
	}
	first := Look(files, append(hookFiles, at("elsewhere")), hooks, time.Unix(1, 0))
	if err := first.Save(folder); err != nil {
		t.Fatal(err)
	}
	kept, err := Load(folder)
	if err != nil || !kept.When.Equal(time.Unix(1, 0)) {
		t.Fatalf("%v, %v", kept, err)
	}
	changed := func(want string) {
		t.Helper()
		var got []string
		for _, path := range kept.Changed(files, hookFiles, hooks) {
			got = append(got, filepath.Base(path))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("changed: %v, want %q", got, want)
		}
	}
	changed("")
	put(t, at("harness"), "harness\nanother model")
	changed("")
	put(t, at("harness"), "no hooks\n")
	changed("harness")
	put(t, at("elsewhere"), "")
	if err := os.Remove(at("rule")); err != nil {
		t.Fatal(err)
	}
	put(t, at("none"), "new")
	put(t, at("program"), "evil")
	changed("elsewhere harness none program rule")
	again := kept.With(at("program"), at("rule"))
	kept = &again
	changed("elsewhere harness none")
	if _, old := first.Files[at("rule")]; !old || first.Files[at("rule")] == absent {
		t.Error("the first posture is another one")
	}
}

func TestForged(t *testing.T) {
	folder := t.TempDir()
	if err := (Posture{}).Save(folder); err != nil {
		t.Fatal(err)
	}
	put(t, Path(folder), strings.Repeat("x", 32)+`{"files":{}}`)
	if _, err := Load(folder); err == nil {
		t.Error("a forged posture is believed")
	}
	if p, err := Load(""); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
}
