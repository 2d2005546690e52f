package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// put writes a file as another program does.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWriteReplacesTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "file")
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, text := range []string{"a long first text", "short", ""} {
		if err := WriteAt(path, []byte(text), when); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path, 100)
		if err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(when) {
		t.Errorf("%v, %v", info.ModTime(), err)
	}
	dir, _ := os.Stat(filepath.Dir(path))
	if runtime.GOOS != "windows" && (info.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700) {
		t.Errorf("%v in %v", info.Mode(), dir.Mode())
	}
	if left, _ := Names(filepath.Dir(path), 10); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWriteFails checks that a failed write leaves only the old file.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "old")
	if err := Replace(path, []byte("new"), func(*os.File) error { return errors.New("no") }); err == nil {
		t.Error("no error")
	}
	if err := Write(filepath.Join(path, "below"), nil); err == nil {
		t.Error("a folder in a file")
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "taken", "x"), "")
	if err := Write(filepath.Join(dir, "taken"), nil); err == nil {
		t.Error("a folder was replaced")
	}
	if got, _ := Read(path, 10); string(got) != "old" {
		t.Errorf("%q", got)
	}
	if left, _ := Names(dir, 10); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

// TestTheLastWriterWins checks that with two writers, the file is that of one of them.
func TestTheLastWriterWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	texts := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<16)}
	done := make(chan error)
	for _, text := range texts {
		go func() {
			var err error
			for range 50 {
				err = errors.Join(err, Write(path, []byte(text)))
			}
			done <- err
		}()
	}
	for running := len(texts); running > 0; {
		select {
		case err := <-done:
			running--
			if err != nil && runtime.GOOS != "windows" { // an open file cannot be replaced there
				t.Error(err)
			}
		default:
			if got, err := Read(path, 1<<17); err == nil && string(got) != texts[0] && string(got) != texts[1] {
				t.Fatalf("%d bytes of nobody", len(got))
			}
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "12345")
	if got, err := Read(path, 5); err != nil || string(got) != "12345" {
		t.Errorf("%q, %v", got, err)
	}
	for _, read := range []func(string, int64) ([]byte, error){Read, ReadLinked} {
		if _, err := read(path, 4); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v", err)
		}
		if _, err := read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		if _, err := read(dir, 4); err == nil {
			t.Error("a folder was read")
		}
	}
	// A file whose size is unknown in advance.
	if runtime.GOOS == "linux" {
		if _, err := Read("/proc/self/status", 10); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v", err)
		}
		if got, err := Read("/proc/self/status", 1<<20); err != nil || !strings.HasPrefix(string(got), "Name:") {
			t.Errorf("%.20q, %v", got, err)
		}
	}
}

// TestLinks checks that only users may replace files by links.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	put(t, file, "x")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if _, err := Read(link, 10); !errors.Is(err, ErrNotRegular) {
		t.Errorf("%v", err)
	}
	if _, _, err := Open(link, os.O_RDWR|os.O_CREATE); !errors.Is(err, ErrNotRegular) {
		t.Errorf("%v", err)
	}
	if got, err := ReadLinked(link, 10); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	// A link itself is replaced, not its target.
	if err := Write(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := Read(file, 10); string(got) != "x" {
		t.Errorf("%q", got)
	}
}

// TestLinksToNothing checks that an unreadable file differs from a missing one.
func TestLinksToNothing(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	for _, link := range []string{file, folder} {
		if err := os.Symlink(filepath.Join(dir, "nothing"), link); err != nil {
			t.Skip(err)
		}
	}
	if _, err := ReadLinked(file, 10); !errors.Is(err, ErrDangling) {
		t.Errorf("a file: %v", err)
	}
	if _, err := Names(folder, 10); !errors.Is(err, ErrDangling) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := ReadLinked(filepath.Join(folder, "below", "file"), 10); !errors.Is(err, ErrDangling) {
		t.Errorf("below a folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "nothing"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(folder, "below", "file"), filepath.Join(dir, "none", "file")} {
		if _, err := ReadLinked(path, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"c", "a", "b"} {
		put(t, filepath.Join(dir, name), "x")
	}
	entries, err := Entries(dir, 10)
	if err != nil || len(entries) != 3 || entries[0].Name() != "a" || entries[2].Name() != "c" {
		t.Errorf("%v, %v", entries, err)
	}
	if names, err := Names(dir, 2); err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := Names(filepath.Join(dir, "a"), 10); !errors.Is(err, ErrNotFolder) {
		t.Errorf("a file: %v", err)
	}
	if names, err := Names(filepath.Join(dir, "none"), 10); names != nil || err != nil {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := Entries(filepath.Join(dir, "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for i, n := range []string{"c", "a", "b", "d"} {
		path := filepath.Join(dir, n)
		if err := WriteAt(path, nil, time.Unix(int64(1000+i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limit, keep int
		want        string
	}{{5, 1, "a b c d folder"}, {4, 2, "b d folder"}, {0, 0, "folder"}, {0, -3, "folder"}} {
		if err := Prune(dir, tt.limit, tt.keep); err != nil {
			t.Error(err)
		}
		entries, _ := os.ReadDir(dir)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%d, %d: %v", tt.limit, tt.keep, got)
		}
	}
	if err := Prune(filepath.Join(dir, "none"), 0, 0); err != nil {
		t.Error(err)
	}
}

func TestRemoveAbandoned(t *testing.T) {
	dir, old := t.TempDir(), time.Now().Add(-2*abandoned)
	for name, when := range map[string]time.Time{TempPrefix + "old": old, TempPrefix + "new": time.Now(), "other": old} {
		path := filepath.Join(dir, name)
		if err := WriteAt(path, nil, when); err != nil {
			t.Fatal(err)
		}
		RemoveAbandoned(path)
		if _, err := os.Stat(path); (err == nil) != (name != TempPrefix+"old") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	take := func(wait time.Duration) (*os.File, error) {
		f, _, err := Open(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		return f, Lock(f, wait)
	}
	first, err := take(0)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	second, err := take(20 * time.Millisecond)
	if took := time.Since(begin); !errors.Is(err, ErrBusy) || took < 20*time.Millisecond || took > 10*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Lock(second, time.Second); err != nil {
		t.Errorf("released: %v", err)
	}
	_ = second.Close()
}

func TestSignedFiles(t *testing.T) {
	dir := t.TempDir()
	key, err := LoadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cache", "file")
	if err := WriteSigned(path, key, "test", "name", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadSigned(path, key, "test", "name", 4); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range [][2]string{{"other", "name"}, {"test", "other"}} {
		if _, err := ReadSigned(path, key, wrong[0], wrong[1], 4); !errors.Is(err, ErrForged) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if _, err := ReadSigned(path, key, "test", "name", 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if _, err := ReadSigned(path, nil, "test", "name", 4); !errors.Is(err, ErrForged) {
		t.Errorf("without a key: %v", err)
	}
	for _, text := range []string{"", "short", strings.Repeat("x", SignatureSize+4)} {
		put(t, path, text)
		if _, err := ReadSigned(path, key, "test", "name", 4); !errors.Is(err, ErrForged) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
