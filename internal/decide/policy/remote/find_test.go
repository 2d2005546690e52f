package remote

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"cardea.dev/internal/decide/policy/engine"
)

// Only the file in the program's folder is used, and only as it was installed.
func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and names are others")
	}
	const name = Program
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	put := func(path string, mode os.FileMode) {
		t.Helper()
		_ = os.Remove(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	put(at("bin/cardea"), 0o755)
	put(at("path/"+name), 0o755)
	t.Setenv("PATH", at("path"))
	t.Chdir(at("path"))
	program := at("link")
	if err := os.Symlink(at("bin/cardea"), program); err != nil {
		t.Fatal(err)
	}
	e := Beside(program)
	if err := e.Ready(); err == nil || !strings.Contains(err.Error(), name+" is missing beside cardea in "+at("bin")) || !strings.Contains(err.Error(), "go install") {
		t.Errorf("%v", err)
	}
	if _, err := e.Parse(t.Context(), nil); err == nil {
		t.Error("nothing is started")
	}
	if _, err := e.Compile(nil, engine.Options{}).Broken(t.Context()); err == nil {
		t.Error("nothing is started")
	}
	for mode, good := range map[os.FileMode]bool{0o755: true, 0o700: true, 0o775: false, 0o757: false, 0o777: false} {
		put(at("bin/"+name), mode)
		got, err := find(program, name)
		if good != (err == nil) || good && got != at("bin/"+name) {
			t.Errorf("%o: %q, %v", mode, got, err)
		}
	}
	// A group that may write the program may also write the engine.
	put(at("bin/cardea"), 0o775)
	put(at("bin/"+name), 0o775)
	if _, err := find(program, name); err != nil {
		t.Error(err)
	}
	_ = os.Remove(at("bin/" + name))
	if err := os.Symlink(at("path/"+name), at("bin/"+name)); err != nil {
		t.Fatal(err)
	}
	if _, err := find(program, name); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("%v", err)
	}
	if _, err := find(at("nowhere"), name); err == nil {
		t.Error("a program that is not there")
	}
	// A file that is not a program cannot be started.
	_ = os.Remove(at("bin/" + name))
	put(at("bin/"+name), 0o644)
	if _, err := e.Parse(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "start "+name) {
		t.Errorf("%v", err)
	}
}
