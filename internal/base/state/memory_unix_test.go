//go:build unix

package state

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// later returns a memory whose clock is ahead, so that recent writes are settled.
func later() *Memory {
	return NewMemory(func() time.Time { return time.Now().Add(time.Hour) })
}

func putText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func reads(t *testing.T, m *Memory, path, want string) {
	t.Helper()
	cold, _, cerr := ReadDated(path, 1<<20)
	warm, _, err := m.ReadDated(path, 1<<20)
	if string(warm) != want || string(cold) != want || (err == nil) != (cerr == nil) {
		t.Errorf("%s: warm %q (%v), cold %q (%v), want %q", path, warm, err, cold, cerr, want)
	}
}

// TestMemoryIsNotDeceived checks that a writer of a file cannot make a memory return its
// old text.
func TestMemoryIsNotDeceived(t *testing.T) {
	dir, m := t.TempDir(), later()
	a, b, link := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "link")
	putText(t, a, "deny")
	reads(t, m, a, "deny")
	if _, n := m.Size(); n != 1 {
		t.Fatalf("%d entries", n)
	}
	reads(t, m, a, "deny")
	info, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	// The same length, in place, and the time set back.
	putText(t, a, "none")
	if err := os.Chtimes(a, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	reads(t, m, a, "none")
	// Another file in its place, with its length and time.
	putText(t, b, "here")
	if err := os.Chtimes(b, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(b, a); err != nil {
		t.Fatal(err)
	}
	reads(t, m, a, "here")
	// A link to another file, and the folder above it.
	putText(t, b, "else")
	for _, to := range []string{a, b, a} {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		reads(t, m, link, map[string]string{a: "here", b: "else"}[to])
	}
	for _, d := range []string{"d1", "d2"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
		putText(t, filepath.Join(dir, d, "f"), d)
	}
	for _, d := range []string{"d1", "d2", "d1"} {
		_ = os.Remove(link)
		if err := os.Symlink(filepath.Join(dir, d), link); err != nil {
			t.Fatal(err)
		}
		reads(t, m, filepath.Join(link, "f"), d)
	}
	// Missing, a pipe, a folder, unreadable.
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	reads(t, m, a, "")
	if err := os.Mkdir(a, 0o700); err != nil {
		t.Fatal(err)
	}
	reads(t, m, a, "")
	if os.Geteuid() != 0 {
		putText(t, b, "shut")
		reads(t, m, b, "shut")
		if err := os.Chmod(b, 0); err != nil {
			t.Fatal(err)
		}
		reads(t, m, b, "")
	}
}

// TestMemoryWaitsUntilFilesSettle checks that a recently written file is read at each call:
// its stamp is not reliable.
func TestMemoryWaitsUntilFilesSettle(t *testing.T) {
	m, path := NewMemory(time.Now), filepath.Join(t.TempDir(), "a")
	putText(t, path, "one")
	reads(t, m, path, "one")
	if _, n := m.Size(); n != 0 {
		t.Errorf("%d entries", n)
	}
	// A file from the future, as after the clock was set back.
	m.now = func() time.Time { return time.Now().Add(-time.Hour) }
	reads(t, m, path, "one")
	if _, n := m.Size(); n != 0 {
		t.Errorf("%d entries", n)
	}
}

func TestMemoryOfWhatWasMade(t *testing.T) {
	m := later()
	m.Keep("n", 1, 8, []byte("text"), []byte("by"))
	for i, of := range [][][]byte{{[]byte("text"), []byte("by")}, {[]byte("texu"), []byte("by")}, {[]byte("text")}, {[]byte("text"), []byte("bz")}, {[]byte("textby"), nil}} {
		if got := m.Made("n", of...); (got == 1) != (i == 0) {
			t.Errorf("%q: %v", of, got)
		}
	}
	if m.Made("o", []byte("text"), []byte("by")) != nil {
		t.Error("another name")
	}
	m.Keep("n", 2, 8, []byte("other"))
	if m.Made("n", []byte("text"), []byte("by")) != nil || m.Made("n", []byte("other")) != 2 {
		t.Error("the last one counts")
	}
	m.Drop("n")
	if size, n := m.Size(); size != 0 || n != 0 {
		t.Errorf("%d bytes in %d entries", size, n)
	}
	if (*Memory)(nil).Made("n") != nil {
		t.Error("nil keeps nothing")
	}
	(*Memory)(nil).Keep("n", 1, 1)
}

// TestMemoryIsBounded checks the limits of a memory, and that used entries stay longest.
func TestMemoryIsBounded(t *testing.T) {
	m, dir := later(), t.TempDir()
	for i := range 3 * maxEntriesStored {
		m.Keep(fmt.Sprint(i), i, 1)
		m.Keep("used", "x", 1)
	}
	if size, n := m.Size(); n > maxEntriesStored || size > 2*n || m.Made("used") != "x" {
		t.Errorf("%d bytes in %d entries", size, n)
	}
	for i := range 5 {
		m.Keep(fmt.Sprint("large", i), i, maxMemory/3)
	}
	if size, _ := m.Size(); size > maxMemory {
		t.Errorf("%d bytes", size)
	}
	m.Keep("too large", 1, maxMemory+1)
	if size, n := m.Size(); size != 0 || n != 0 {
		t.Errorf("%d bytes in %d entries", size, n)
	}
	path := filepath.Join(dir, "a")
	putText(t, path, "text")
	reads(t, m, path, "text")
	m.Keep("made", 1, 1)
	m.Tidy(time.Now())
	if _, n := m.Size(); n != 2 {
		t.Errorf("%d entries", n)
	}
	m.Tidy(time.Now().Add(2 * time.Hour))
	if size, n := m.Size(); size != 0 || n != 0 {
		t.Errorf("%d bytes in %d entries", size, n)
	}
}
