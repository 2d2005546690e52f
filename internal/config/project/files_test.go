package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/base/document"
)

func TestReadFile(t *testing.T) {
	base := realTemp(t)
	project := filepath.Join(base, "app")
	inside := write(t, filepath.Join(project, "a.yaml"), "text")
	outside := write(t, filepath.Join(base, "secret"), "secret")
	link := func(name, to string) string {
		path := filepath.Join(project, name)
		if err := os.Symlink(to, path); err != nil {
			t.Skip(err)
		}
		return path
	}
	for _, c := range []struct{ name, path, inside, want, err string }{
		{"a file", inside, project, "text", ""},
		{"none", filepath.Join(project, "none"), project, "", ""},
		{"a link inside", link("in", inside), project, "text", ""},
		{"a link outside, for the user", link("out", outside), "", "secret", ""},
		{"a link outside, for a project", filepath.Join(project, "out"), project, "", "outside of the project"},
		{"a link to nothing", link("gone", filepath.Join(base, "gone")), "", "", "link to nothing"},
		{"a folder", project, "", "", "no regular file"},
	} {
		data, _, err := ReadFile(c.path, c.inside)
		if string(data) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", c.name, data, err)
		}
	}
	if data, _, err := ReadFile(write(t, filepath.Join(base, "empty"), ""), ""); data == nil || err != nil {
		t.Errorf("an empty file is taken for none: %v", err)
	}
	big := write(t, filepath.Join(base, "big"), strings.Repeat("x", document.MaxSize+100))
	if data, _, err := ReadFile(big, ""); err != nil || len(data) != document.MaxSize+1 {
		t.Errorf("a huge file: %d bytes, %v", len(data), err)
	}
}

// TestReadFileDoesNotWaitForAPipe checks that a pipe in the place of a file does not block
// the hook.
func TestReadFileDoesNotWaitForAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "rules.yaml")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	if _, _, err := ReadFile(pipe, ""); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}

func TestRuleFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rules")
	if got, err := RuleFiles(dir); got != nil || err != nil {
		t.Errorf("no folder: %v, %v", got, err)
	}
	for _, n := range []string{"b.yaml", "a.yml", "c.txt", ".hidden.yaml", "d.yaml~"} {
		write(t, filepath.Join(dir, n), "")
	}
	got, err := RuleFiles(dir)
	if want := []string{filepath.Join(dir, "a.yml"), filepath.Join(dir, "b.yaml")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for i := range MaxRuleFiles {
		write(t, filepath.Join(dir, strings.Repeat("x", i%50+1)+string(rune('a'+i/50))+".yaml"), "")
	}
	if _, err := RuleFiles(dir); err == nil || !strings.Contains(err.Error(), "several rules into a file") {
		t.Errorf("too many files: %v", err)
	}
	if _, err := RuleFiles(write(t, filepath.Join(t.TempDir(), "rules"), "")); err == nil {
		t.Error("a file in the place of the folder is not told")
	}
}
