package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/command/redact"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hooks treats the first line of a file as its hooks.
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
	put(t, at("program"), strings.Repeat("x", maxText+1))
	names := []string{at("program"), at("settings"), at("rule"), at("none"), HooksIn(at("harness"))}
	if p, err := Load(folder); p != nil || err != nil {
		t.Errorf("nothing was kept: %v, %v", p, err)
	}
	first := Snapshot{}.Look(append(names, HooksIn(at("elsewhere"))), nil, hooks, redact.New(), time.Unix(1, 0))
	if err := first.Save(folder); err != nil {
		t.Fatal(err)
	}
	stored, err := Load(folder)
	if err != nil || !stored.When.Equal(time.Unix(1, 0)) {
		t.Fatalf("%v, %v", stored, err)
	}
	if stored.Texts[at("rule")] != "rule\nrest" || stored.Texts[HooksIn(at("harness"))] != "harness" || stored.Texts[at("program")] != "" {
		t.Errorf("texts: %q", stored.Texts)
	}
	changed := func(want string) {
		t.Helper()
		var got []string
		for _, path := range stored.Changed(names, hooks) {
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
	before := stored.Changed(names, hooks)
	put(t, at("settings"), "by a command")
	changed("elsewhere harness none program rule settings")
	again := stored.Look(names, before, hooks, redact.New(), stored.When)
	stored = &again
	changed("elsewhere harness none program rule")
	if again.Texts[at("rule")] != "rule\nrest" || again.Texts[at("settings")] != "by a command" {
		t.Errorf("texts: %q", again.Texts)
	}
	again = stored.Look(names, nil, hooks, redact.New(), stored.When)
	changed("")
	if _, there := again.Files[at("rule")]; there || first.Files[at("rule")] == absent {
		t.Error("a file that is gone is remembered, or the first posture is another one")
	}
}

// TestTexts checks that no secret is stored, and that the total size of texts is limited.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	put(t, filepath.Join(dir, "secret"), "token: "+secret)
	put(t, filepath.Join(dir, "binary"), "\xff\xfe")
	names := []string{filepath.Join(dir, "secret"), filepath.Join(dir, "binary")}
	for i := range 20 {
		names = append(names, filepath.Join(dir, fmt.Sprint("large", i)))
		put(t, names[len(names)-1], strings.Repeat("x ", maxText/2))
	}
	p := Snapshot{}.Look(names, nil, hooks, redact.New(), time.Unix(1, 0))
	size := 0
	for name, text := range p.Texts {
		if size += len(text); strings.Contains(text, secret) || name == names[1] {
			t.Errorf("%s: %q", name, text)
		}
	}
	if size > maxTexts || size < maxTexts/2 || len(p.Files) != len(names) {
		t.Errorf("%d bytes of %d files", size, len(p.Files))
	}
}

func TestForged(t *testing.T) {
	folder := t.TempDir()
	if err := (Snapshot{}).Save(folder); err != nil {
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
