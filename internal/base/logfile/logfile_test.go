package logfile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func clock() time.Time { return time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC) }

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := Open(path, clock)
	if err != nil {
		t.Fatal(err)
	}
	l.Printf("a %d\nb\n", 1)
	l.Printf("%s", strings.Repeat("ä", maxLine))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	text := string(data)
	if err != nil || !strings.HasPrefix(text, "2026-11-24T01:02:03.000Z a 1\n  b\n2026") || len(text) > maxLine+100 || !strings.HasSuffix(text, " …\n") {
		t.Errorf("%v %.100q", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	(*Log)(nil).Printf("nobody keeps it")
}

// TestBounded checks that the folder has a bounded size and the last line, for any amount
// of output from any number of writers.
func TestBounded(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(filepath.Join(dir, "log"), clock)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", maxLine-100)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2 * (MaxOld + 2) * MaxSize / len(line) / 4 {
				l.Printf("%s", line)
			}
		})
	}
	all.Wait()
	l.Printf("the last one")
	sum := int64(0)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != MaxOld+1 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() > MaxSize {
			t.Errorf("%s: %v %d, %v", f.Name(), info.Mode(), info.Size(), err)
		}
		sum += info.Size()
	}
	if sum < MaxOld*MaxSize*9/10 {
		t.Errorf("only %d bytes are kept", sum)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || !strings.HasSuffix(string(data), "the last one\n") {
		t.Error("the last line is missing", err)
	}
}

// TestContinued checks that Open counts the existing bytes, and rejects a log that others
// can read.
func TestContinued(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	if err := os.WriteFile(path, make([]byte, MaxSize-10), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, clock)
	if err != nil {
		t.Fatal(err)
	}
	l.Printf("new")
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() != MaxSize-10 {
		t.Error("the full file was not put away", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, clock); err == nil {
		t.Error("a log that others can read is continued")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, clock); err == nil {
		t.Error("a link is followed")
	}
}

// TestUnwritable checks that a missing folder causes no failure, and that the log continues
// when it is back.
func TestUnwritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := clock()
	l, err := Open(filepath.Join(dir, "log"), func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 * MaxSize / 1000 {
		l.Printf("%s", strings.Repeat("x", 1000))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at = at.Add(2 * time.Minute)
	l.Printf("there again")
	if data, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || !strings.Contains(string(data), "there again") {
		t.Errorf("%q %v", data, err)
	}
}
