package org

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.zip"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	url := "file://" + filepath.ToSlash(dir)
	for text, want := range map[string]Source{
		"https://github.com/acme/x":        {Git, "https://github.com/acme/x", ""},
		"https://github.com/acme/x.git#v1": {Git, "https://github.com/acme/x.git", "v1"},
		"ssh://git@example.com:22/acme/x":  {Git, "ssh://git@example.com:22/acme/x", ""},
		"git@example.com:acme/x.git#main":  {Git, "git@example.com:acme/x.git", "main"},
		"https://example.com/a.tar.gz":     {Archive, "https://example.com/a.tar.gz", ""},
		"https://example.com/a.TGZ?x=1":    {Archive, "https://example.com/a.TGZ?x=1", ""},
		"a.zip":                            {Archive, filepath.Join(dir, "a.zip"), ""},
		"~/a.zip":                          {Archive, filepath.Join(dir, "a.zip"), ""},
		".":                                {Git, url, ""},
		url:                                {Git, url, ""},
		"#x":                               {}, "": {}, "-x": {}, "https://example.com/x#-x": {}, "ext::sh -c x": {}, "https::x": {}, "http://example.com/x": {},
		"git://example.com/x": {}, "https://": {}, "https://a:b@example.com/x": {}, "nowhere": {}, "https://-x/y": {}, "https://example.com/a.zip#x": {}, "a\nb": {},
	} {
		got, err := ParseSource(text, dir, dir, false)
		if got != want || (err == nil) != (want != Source{}) {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	if got, err := ParseSource("https://example.com/bundle", dir, dir, true); err != nil || got.Kind != Archive {
		t.Errorf("an address of a signed bundle: %+v, %v", got, err)
	}
}

func tree(rules string) *Tree {
	return &Tree{Files: map[string]File{"rules/a.yaml": {Data: []byte(rules)}, "signals/s": {Data: []byte("x"), Program: true}}}
}

// TestStore checks that the folder in force is replaced as a whole, can be restored, and is
// never missing.
func TestStore(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "org")}
	is := func(want string) {
		t.Helper()
		now, err := Read(s.Folder("acme"))
		if got := string(now.Files["rules/a.yaml"].Data); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	is("")
	if err := s.Rollback("acme"); err == nil {
		t.Error("rolled back to nothing")
	}
	for _, rules := range []string{"one", "two", "three"} {
		staged, err := s.Stage("acme", tree(rules))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put("acme", staged, Record{Source: "from " + rules}); err != nil {
			t.Fatal(err)
		}
		is(rules)
		if err := staged.Discard(); err != nil {
			t.Fatal(err)
		}
		is(rules)
	}
	for _, want := range []string{"two", "three", "two"} {
		if err := s.Rollback("acme"); err != nil {
			t.Fatal(err)
		}
		is(want)
		if r, err := s.Record("acme"); err != nil || r.Source != "from "+want {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.Dir, ".staged")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	info, err := os.Stat(filepath.Join(s.Folder("acme"), "signals", "s"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if os.Symlink(s.Folder("acme"), s.Folder("linked")) == nil {
		staged, err := s.Stage("linked", tree("x"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put("linked", staged, Record{}); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Error(err)
		}
		is("two")
	}
}

func TestByRenames(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, d := range []string{a, b} {
		if err := os.MkdirAll(filepath.Join(d, "in "+filepath.Base(d)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := byRenames(a, b); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(a, "in b")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(b, "in a")); err != nil {
		t.Error(err)
	}
	if err := byRenames(filepath.Join(dir, "none"), b); err == nil {
		t.Error("nothing took the place of something")
	}
	if _, err := os.Stat(filepath.Join(b, "in a")); err != nil {
		t.Errorf("what was in force is gone: %v", err)
	}
}

func TestLock(t *testing.T) {
	s := Store{t.TempDir()}
	release, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(); err == nil || !strings.Contains(err.Error(), "another sync is at work") {
		t.Error(err)
	}
	release()
	release, err = s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	release()
}
