//go:build unix

package state

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestAbsent checks that Absent agrees with reading. A dangling link, or a path that cannot
// be examined, is not absent.
func TestAbsent(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{os.Mkdir(in("folder"), 0o755), os.WriteFile(in("file"), nil, 0o600), os.Symlink(in("gone"), in("link")), os.Symlink(in("folder"), in("good")),
		os.WriteFile(in("folder/x"), nil, 0o600), os.Symlink(in("gone"), in("folder/dangling")), os.MkdirAll(in("shut/in"), 0o755), os.Chmod(in("shut"), 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(in("shut"), 0o755) })
	var absent Absent
	for range 2 { // cached results are the same
		for _, name := range []string{
			"folder/x",
			"folder/none",
			"folder/dangling",
			"good/x",
			"good/none",
			"none/x",
			"none/deep/x",
			"link/x",
			"link/deep/x",
			"file/x",
			"file/deep/x",
			"shut/in/x",
			"shut/none",
			"link",
			"none",
		} {
			_, err := ReadLinked(in(name), 10)
			if got, want := absent.File(in(name)), errors.Is(err, os.ErrNotExist); got != want {
				t.Errorf("file %s: %v, and reading says %v", name, got, err)
			}
			_, err = Names(in(name), 10)
			if _, there := Names(filepath.Dir(in(name)), 10); absent.Folder(in(name)) && (err != nil || Exists(in(name)) || there != nil) {
				t.Errorf("folder %s is taken for absent: %v", name, err)
			}
		}
	}
	if !absent.Folder(in("none")) || !absent.Folder(in("none/deep")) || absent.Folder(in("folder")) || absent.Folder(in("link/deep")) || absent.Folder(dir) || absent.Folder("/") {
		t.Error("folders")
	}
	// A new load finds a file created later.
	if err := os.Mkdir(in("none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if new(Absent).Folder(in("none")) {
		t.Error("a look remembers what another one saw")
	}
}
