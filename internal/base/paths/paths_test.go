package paths

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		folder, path string
		want         bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false}, {"/a/b", "/a", false}, {"/a/", "/a/b", true}, {"/a", "/a/", true},
		{"/", "/x", true}, {"/", "/", true}, {"/x", "/", false},
		// Extra slashes and dots do not change a path.
		{"/a", "//a/b", true}, {"/a", "/a/./b", true}, {"/a", "/a//b", true}, {"/a/./", "/a/b", true},
		{"/a", "/a/../b", false}, {"/a", "/a/b/../../c", false}, {"/a", "/b/../a/x", true}, {"/a", "/a/..", false}, {"/a", "/../a/x", true},
		// A name that begins with dots is a name.
		{"/a", "/a/..b", true}, {"/a", "/a/...", true},
		// An unknown folder contains nothing, and an unknown path is in no folder.
		{"", "/a", false}, {"/a", "", false}, {"", "", false}, {"/a", "a/b", false}, {"a", "/a", false},
		// Other letters that look the same make another name.
		{"/a", "/\u0430/b", false}, {"/\u00e9", "/e\u0301/x", false},
	} {
		if got := Within(c.folder, c.path); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.folder, c.path, got)
		}
		if got := Below(c.folder, c.path); got != (c.want && !Within(c.path, c.folder)) {
			t.Errorf("Below(%q, %q) = %v", c.folder, c.path, got)
		}
	}
	if got, want := Within("/a", "/A/b"), runtime.GOOS == "windows"; got != want {
		t.Errorf("another case lies within: %v", got)
	}
}

// FuzzWithin compares with filepath.Rel, which knows the platform.
func FuzzWithin(f *testing.F) {
	for _, s := range []string{"/a|/a/b", "/|/x", "/a|/a/../b", "/a/b|/a", "/a|//a//b/."} {
		folder, path, _ := strings.Cut(s, "|")
		f.Add(folder, path)
	}
	f.Fuzz(func(t *testing.T, folder, path string) {
		if !filepath.IsAbs(folder) || !filepath.IsAbs(path) {
			return
		}
		rel, err := filepath.Rel(folder, path)
		want := err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		if got := Within(folder, path); got != want {
			t.Errorf("Within(%q, %q) = %v", folder, path, got)
		}
	})
}
