package state

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestTheKeyIsMadeOnceWhoeverIsFirst(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	keys := make([][]byte, 16)
	var all sync.WaitGroup
	for i := range keys {
		all.Add(1)
		go func() {
			defer all.Done()
			key, err := LoadKey(state)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		}()
	}
	all.Wait()
	for _, k := range keys {
		if len(k) != KeySize || !bytes.Equal(k, keys[0]) {
			t.Fatalf("%x and %x", k, keys[0])
		}
	}
	if bytes.Equal(keys[0], make([]byte, KeySize)) {
		t.Error("the key is empty")
	}
	info, err := os.Stat(filepath.Join(state, "key"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if left, _ := os.ReadDir(state); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestKeysThatAreNotBelieved(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"damaged":      func(p string) error { return os.WriteFile(p, []byte("short"), 0o600) },
		"too long":     func(p string) error { return os.WriteFile(p, make([]byte, KeySize+1), 0o600) },
		"open":         func(p string) error { return os.WriteFile(p, make([]byte, KeySize), 0o644) },
		"a folder":     func(p string) error { return os.Mkdir(p, 0o700) },
		"a link":       func(p string) error { return os.Symlink("/dev/zero", p) },
		"a dead link":  func(p string) error { return os.Symlink("/none", p) },
		"in no folder": func(p string) error { return os.WriteFile(filepath.Dir(p)+"x", nil, 0o600) },
	} {
		state := t.TempDir()
		if err := plant(filepath.Join(state, "key")); err != nil {
			t.Fatal(err)
		}
		if name == "in no folder" {
			state += "x"
		}
		key, err := LoadKey(state)
		if err == nil || key != nil {
			t.Errorf("%s: believed", name)
		} else if !strings.Contains(err.Error(), "remove it") && name != "in no folder" {
			t.Errorf("%s: %v does not say what to do", name, err)
		}
	}
	if _, err := LoadKey(""); err == nil {
		t.Error("no folder is believed")
	}
	if _, err := ReadKey(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
}

func TestSignaturesAreForOnePurposeAndOneSplit(t *testing.T) {
	key, other := bytes.Repeat([]byte{1}, KeySize), bytes.Repeat([]byte{2}, KeySize)
	sig := Sign(key, "trust", []byte("ab"), []byte("c"))
	if !Signed(key, sig, "trust", []byte("ab"), []byte("c")) {
		t.Error("its own signature is refused")
	}
	for name, ok := range map[string]bool{
		"another purpose": Signed(key, sig, "lastgood", []byte("ab"), []byte("c")),
		"another split":   Signed(key, sig, "trust", []byte("a"), []byte("bc")),
		"another key":     Signed(other, sig, "trust", []byte("ab"), []byte("c")),
		"no key":          Signed(nil, Sign(nil, "trust"), "trust"),
		"no signature":    Signed(key, nil, "trust", []byte("ab"), []byte("c")),
		"changed data":    Signed(key, sig, "trust", []byte("ab"), []byte("d")),
	} {
		if ok {
			t.Errorf("%s passes", name)
		}
	}
}

func TestAKeyThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := createKey(filepath.Join(file, "state")); err == nil {
		t.Error("a folder in a file")
	}
	// The second process gets the first one's key.
	state := t.TempDir()
	first, err := LoadKey(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := createKey(state); err != nil {
		t.Error(err)
	}
	if again, err := ReadKey(state); err != nil || !bytes.Equal(first, again) {
		t.Errorf("%x, then %x, %v", first, again, err)
	}
	// A dangling link in the place of the folder.
	dangling := filepath.Join(t.TempDir(), "gone")
	if err := os.Symlink(dangling+"x", dangling); err != nil {
		t.Skip(err)
	}
	if _, err := LoadKey(dangling); err == nil || !errors.Is(err, ErrDangling) {
		t.Errorf("got %v", err)
	}
}
