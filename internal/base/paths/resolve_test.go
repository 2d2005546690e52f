package paths

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// linked creates folders, files and links in a temporary folder: names that end in a slash
// are folders, "a -> b" is a link.
func linked(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		at, target, isLink := strings.Cut(name, " -> ")
		at = filepath.Join(dir, at)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResolve(t *testing.T) {
	dir := linked(t, "real/deep/", "out/side/file", "link -> real", "deep -> real/deep", "dangling -> nowhere/x", "a -> b", "b -> ../"+"up/c",
		"loop -> loop", "x/up -> ..", "self -> .")
	if err := os.Symlink(filepath.Join(dir, "out/side"), filepath.Join(dir, "real/far")); err != nil {
		t.Fatal(err)
	}
	up := filepath.Dir(dir)
	for in, want := range map[string]string{
		"link/new/file": dir + "/real/new/file", "real/new": dir + "/real/new", "link": dir + "/real", "self/self/link": dir + "/real",
		// A missing file is created in the link's target, through any number of links.
		"dangling": dir + "/nowhere/x", "dangling/y": dir + "/nowhere/x/y", "a": up + "/up/c", "a/d": up + "/up/c/d",
		// ".." is relative to the link's target.
		"deep/../x": dir + "/real/x", "link/far/../hostname": dir + "/out/hostname", "link/../x": dir + "/x", "x/up/../y": up + "/y",
		"dangling/../z": dir + "/nowhere/z", "new/../deep/..": dir + "/real", "real/./deep//x/": dir + "/real/deep/x",
		// Unknown is "".
		"loop": "", "loop/x": "", "loop/../x": "", strings.Repeat("self/", 50): "", strings.Repeat("y/", 3000): "",
	} {
		if got := Resolve(dir + "/" + in); got != want {
			t.Errorf("%.60s: %s, want %s", in, got, want)
		}
	}
	rememberedAsWell(t, dir)
	for in, want := range map[string]string{"": "", "rel/../x": "rel/../x", "/": "/", "/../..": "/"} {
		if got := Resolve(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// rememberedAsWell resolves many paths, some of them twice, and compares cached with
// uncached results.
func rememberedAsWell(t *testing.T, dir string) {
	t.Helper()
	var links Links
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"real", "deep", "link", "self", "loop", "dangling", "x", "up", "..", ".", "", "far", "new", "a", "b", strings.Repeat("y/", 1800)}
	for range 3000 {
		path := dir
		for range 1 + r.IntN(5) {
			path += "/" + names[r.IntN(len(names))]
		}
		if got, want := links.Resolve(path), Resolve(path); got != want {
			t.Fatalf("%.80s: %.80s, want %.80s", path, got, want)
		}
		if got, want := links.Real(path), Real(path); got != want {
			t.Fatalf("%.80s is in truth %.80s, want %.80s", path, got, want)
		}
	}
}

// TestLinksOfProcesses checks that links of /proc/self are unknown: they differ for the
// program that opens them.
func TestLinksOfProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	for in, want := range map[string]string{
		"/proc/self/cwd/x": "", "/proc/self/fd/0": "", "/dev/fd/0": "", "/dev/stdin": "", "/proc/self/exe": "",
		fmt.Sprintf("/proc/%d/cwd", os.Getpid()): "", "/proc/self/root/etc/x-not-there": "/etc/x-not-there", "/proc/self/task/../root/bin-not-there": "/bin-not-there",
	} {
		if got := Resolve(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestReal checks that Real follows links of /proc, and that a path whose links cannot be
// followed stays.
func TestReal(t *testing.T) {
	dir := linked(t, "real/deep/", "link -> real", "loop -> loop", "dangling -> nowhere/x")
	for in, want := range map[string]string{"link/deep/new": "/real/deep/new", "loop/x": "/loop/x", "dangling": "/nowhere/x", "link/../y": "/y"} {
		if got := Real(dir + "/" + in); got != filepath.FromSlash(dir+want) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := Real(""); got != "" {
		t.Errorf("an unknown path is %q", got)
	}
	t.Chdir(filepath.Join(dir, "link"))
	if got := Real("deep"); got != filepath.Join(dir, "real", "deep") {
		t.Errorf("a relative path is %s", got)
	}
	if runtime.GOOS == "linux" {
		if got := Real("/proc/self/cwd/deep"); got != filepath.Join(dir, "real", "deep") {
			t.Errorf("the working folder by /proc is %s", got)
		}
	}
}
