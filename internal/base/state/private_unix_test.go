//go:build unix

package state

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrivate checks that files that others can write or replace are not private.
func TestPrivate(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "run")
	if err := PrivateFolder(dir); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(socket, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := PrivateSocket(socket); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(dir, path) },
		"file":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"shared": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(base, name)
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if name == "shared" {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := PrivateFolder(path); err == nil {
			t.Errorf("the %s counts as private", name)
		}
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := PrivateSocket(socket); err == nil || !strings.Contains(err.Error(), "open to others") {
		t.Errorf("a socket for all: %v", err)
	}
	if err := PrivateSocket(filepath.Join(base, "file")); err == nil {
		t.Error("a file counts as a socket")
	}
}
