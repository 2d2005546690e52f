package statcache

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// settle waits until the last change of the folders is old enough: no program can set its
// time.
func settle(t *testing.T) {
	t.Helper()
	time.Sleep(Settled + 100*time.Millisecond)
}

// at returns the entry that a new call sees at a path.
func at(s *Cache, path string) (Name, bool) {
	m := s.Begin()
	defer m.End()
	return m.Name(path)
}

// TestNames checks that a name is always current. Names are added, removed and replaced,
// and so are the folder, those above it, and links to it.
func TestNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	in := filepath.Join(dir, "above", "in")
	path, by := filepath.Join(in, "name"), filepath.Join(dir, "link", "name")
	do(os.MkdirAll(in, 0o700))
	do(os.MkdirAll(filepath.Join(dir, "other", "in", "name"), 0o700))
	do(os.Symlink("above/in", filepath.Join(dir, "link")))
	settle(t)
	var s Cache
	expect := func(when string, want Name, paths ...string) {
		t.Helper()
		for _, p := range paths {
			for range 2 {
				if got, known := at(&s, p); known && got != want {
					t.Errorf("%s: %s is %+v, not %+v", when, p, got, want)
				}
			}
		}
	}
	known := func(p string) {
		t.Helper()
		if _, known := at(&s, p); !known {
			t.Errorf("nothing is remembered of %s", p)
		}
	}
	gone, folder, file := Name{Gone: true}, Name{Folder: true}, Name{}
	for range 2 {
		known(path)
		known(by)
		expect("at first", gone, path, by)
		do(os.WriteFile(path, nil, 0o600))
		expect("a file came", file, path, by)
		do(os.Remove(path))
		do(os.Symlink("/etc", path))
		expect("a link is in its place", Name{Target: "/etc"}, path, by)
		do(os.Remove(path))
		do(os.Symlink("/usr", path))
		expect("the link leads elsewhere", Name{Target: "/usr"}, path, by)
		do(os.Remove(path))
		do(os.Mkdir(path, 0o700))
		expect("a folder came", folder, path, by)
		do(os.Remove(path))
		expect("it is gone", gone, path, by)
		do(os.Rename(filepath.Join(dir, "above"), filepath.Join(dir, "away")))
		expect("what is above is gone", gone, path)
		do(os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "above")))
		expect("another folder is in its place", folder, path, by)
		do(os.Rename(filepath.Join(dir, "above"), filepath.Join(dir, "other")))
		do(os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "above")))
		do(os.Remove(filepath.Join(dir, "link")))
		do(os.Symlink("other/in", filepath.Join(dir, "link")))
		expect("the link to the folder leads elsewhere", folder, by)
		do(os.Remove(filepath.Join(dir, "link")))
		do(os.Symlink("above/in", filepath.Join(dir, "link")))
		settle(t)
	}
	// Setting back the folder's times does not change the inode's time.
	var before unix.Stat_t
	do(unix.Stat(in, &before))
	expect("before", gone, path)
	do(os.WriteFile(path, nil, 0o600))
	do(os.Chtimes(in, time.Unix(before.Atim.Unix()), time.Unix(before.Mtim.Unix())))
	settle(t)
	expect("its time was set back", file, path)
}

// TestNamesOfACall checks that within one call, a name is as it was at the first read or
// later.
func TestNamesOfACall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	settle(t)
	var s Cache
	a := s.Begin()
	if n, known := a.Name(dir + "/x"); !known || !n.Gone {
		t.Fatalf("%+v, %v", n, known)
	}
	if err := os.Mkdir(dir+"/x", 0o700); err != nil {
		t.Fatal(err)
	}
	b := s.Begin()
	if n, known := b.Name(dir + "/x"); known && !n.Folder {
		t.Errorf("a call that came later sees %+v", n)
	}
	a.End()
	if _, known := a.Name(dir + "/x"); known {
		t.Error("what goes on after the end takes what was remembered")
	}
}

// TestNamesOfExchangedFolders checks that entries of a temporary replacement are not cached
// for the original folder. Its stamp stays when a folder above it is renamed.
func TestNamesOfExchangedFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "top", "in")
	exchange := func() {
		for _, move := range [][2]string{{"top", "aside"}, {"other", "top"}, {"aside", "other"}} {
			if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, of := range []string{"top", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, of, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, is := range []string{"file", "another"} {
		if err := os.WriteFile(filepath.Join(in, is), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settle(t)
	var s Cache
	m := s.Begin()
	if n, known := m.Name(in + "/another"); !known || n.Gone {
		t.Fatalf("%+v, %v", n, known)
	}
	exchange()
	if n, known := m.Name(in + "/file"); known {
		t.Errorf("it is remembered by a look into another folder: %+v", n)
	}
	exchange()
	m.End()
	if n, known := at(&s, in+"/file"); known && n.Gone {
		t.Error("a file that is there counts as gone")
	}
}

// TestNamesNotKnown checks that nothing is cached for folders with an unreliable stamp, nor
// for names that the system interprets differently.
func TestNamesNotKnown(t *testing.T) {
	fresh := t.TempDir()
	var s Cache
	for _, path := range []string{fresh + "/x", "/proc/self/x", "/sys/x", "relative/x", "x", "", "/", "/etc/", "/etc/.", "/etc/..", "/etc/passwd/x"} {
		if n, known := at(&s, path); known {
			t.Errorf("%q is remembered as %+v", path, n)
		}
	}
	if n, known := (*View)(nil).Name("/etc/passwd"); known {
		t.Errorf("without a moment it is %+v", n)
	}
}

// TestNamesBounded checks the limits of the cache.
func TestNamesBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	settle(t)
	var s Cache
	m := s.Begin()
	defer m.End()
	for range maxFolderNames + 10 {
		if _, known := m.Name(dir + "/" + t.Name()); !known {
			t.Fatal("not known")
		}
	}
	f := m.folder(dir)
	for i := range 3 * maxFolderNames {
		f.name(dir, string(rune(i+0x4e00)))
	}
	if len(f.names) > maxFolderNames {
		t.Errorf("%d names are kept", len(f.names))
	}
	stored := 0
	for i := range 3 * maxFolders {
		spelled := dir
		for bit := range 12 {
			spelled += []string{"/.", "//."}[i>>bit&1]
		}
		if s.names.folder(spelled, f.stamp) != nil {
			stored = max(stored, len(s.names.folders))
		}
	}
	if stored != maxFolders {
		t.Errorf("%d folders are kept", stored)
	}
}
