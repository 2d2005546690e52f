package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// EarlierState returns copies of the state folders that earlier versions wrote, with
// their original modes: git stores no modes.
func EarlierState(t testing.TB) []string {
	t.Helper()
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			break
		}
		root = filepath.Dir(root)
	}
	dir := t.TempDir()
	for _, words := range [][]string{{"cp", "-R", filepath.Join(root, "testdata/earlier-state") + "/.", dir}, {"chmod", "-R", "go-rwx", dir}} {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %s%v", words, out, err)
		}
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*/home/.local/state/cardea"))
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	return folders
}
