package paths

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/a/b", "/a/b", true}, {"/a/b", "/a/b/c", false}, {"/a/**", "/a", false}, {"/a/**", "/a/b/c", true}, {"/**", "/a", true}, {"/**/b", "/b", true},
		{"/**/b", "/a/x/b", true}, {"/a/**/b", "/a/b", true}, {"/a/*/b", "/a/b", false}, {"/a/*", "/a/b/c", false}, {"/a/./b/../c", "/a/c", true},
		{"/a/**/**", "/a", false}, {"/a/**/**", "/a/b", true}, {"/a*b", "/a/b", false}, {"/a/.*", "/a/.env", true}, {"/a/*", "/a/.env", true},
		// Another case, another spelling of a letter and another separator are another name.
		{"/a/b", "/a/B", false}, {"/\u00e9", "/e\u0301", false}, {"/a/b", `/a\b`, false},
	} {
		if got := Pattern(nil).Join(c.pattern).Match(Segments(c.path)); got != c.want {
			t.Errorf("%s, %s: %v", c.pattern, c.path, got)
		}
	}
}

// sample returns patterns and paths of few letters, so that they often match.
func sample(r *rand.Rand, words []string, most int) string {
	var b strings.Builder
	for range 1 + r.IntN(most) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return strings.Trim(b.String(), "/")
}

// TestMatchIsDoublestars compares with a common library for "**". One difference is
// intended: here, as in git, "a/**" does not match "a" itself. (In the library, "[!a]" also
// matches a slash; git below shows the right result.)
func TestMatchIsDoublestars(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	both := 0
	for range 200_000 {
		pattern := sample(r, []string{"a", "b", "*", "?", "/", "/", "**", "/**/", "[ab]", `\*`, "."}, 6)
		path := sample(r, []string{"a", "b", "/", "/", ".", "*"}, 6)
		if strings.Contains("/"+path+"/", "//") || strings.Contains("/"+pattern+"/", "//") || strings.Contains("/"+path+"/"+pattern+"/", "/./") || strings.Contains("/"+path+"/"+pattern+"/", "/../") {
			continue
		}
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll("/"+pattern+"/", "/", "//"), "/**/", ""), "**") {
			continue // the library treats it differently within a segment
		}
		want, err := doublestar.Match(pattern, path)
		if err != nil {
			continue
		}
		got := Pattern(nil).Join(pattern).Match(Segments(path))
		if folder := strings.TrimSuffix(pattern, "/**"); want && !got && folder != pattern {
			if is, _ := doublestar.Match(folder, path); is {
				continue // the folder itself
			}
		}
		if pattern == "**" && path == "" {
			continue
		}
		if got != want {
			t.Fatalf("%q, %q: %v, doublestar says %v", pattern, path, got, want)
		}
		if got {
			both++
		}
	}
	if both < 2000 {
		t.Errorf("only %d pairs match: the test is empty", both)
	}
}

// TestMatchIsGits compares with "git check-ignore", which also matches everything below a
// matching folder.
func TestMatchIsGits(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-C", dir, "-c", "core.excludesFile="}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if x, ok := err.(*exec.ExitError); err != nil && (!ok || x.ExitCode() != 1) {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("", "init", "-q")
	r := rand.New(rand.NewPCG(3, 4))
	paths := map[string]bool{}
	for len(paths) < 300 {
		p := sample(r, []string{"a", "b", "/", "/", ".", "*", "[a]"}, 6)
		if p != "" && !strings.Contains("/"+p+"/", "//") && !strings.Contains("/"+p+"/", "/./") && !strings.Contains("/"+p+"/", "/../") {
			paths[p] = true
		}
	}
	list := make([]string, 0, len(paths))
	for p := range paths {
		list = append(list, p)
	}
	ignored := 0
	for range 150 {
		text := sample(r, []string{"a", "b", "*", "?", "/", "/", "/**/", "[ab]", "[!a]", `\*`, "[[:alpha:]]"}, 5)
		if text == "" || strings.Contains("/"+text+"/", "//") || strings.Contains("/"+text+"/", "/./") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("/"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		pattern := Pattern(nil).Join(text)
		out := run(strings.Join(list, "\x00")+"\x00", "check-ignore", "--no-index", "--stdin", "-z")
		said := map[string]bool{}
		for p := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
			said[p] = true
		}
		for _, p := range list {
			got := false
			for segs := Segments(p); len(segs) > 0 && !got; segs = segs[:len(segs)-1] {
				got = pattern.Match(segs)
			}
			if got != said[p] {
				t.Errorf("%q, %q: %v, git says %v", text, p, got, said[p])
			}
			if got {
				ignored++
			}
		}
	}
	if ignored < 500 {
		t.Errorf("only %d paths are ignored: the test is empty", ignored)
	}
}

// TestMeetsWhatBothMatch checks that two patterns meet if both match a path.
func TestMeetsWhatBothMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	every := func(int) bool { return true }
	met := 0
	for range 300_000 {
		words := []string{"a", "b", "*", "?", "/", "/", "**", "[ab]"}
		line, rule, path := sample(r, words, 5), sample(r, words, 5), sample(r, []string{"a", "b", "/"}, 5)
		p, l := Pattern(nil).Join(rule), Pattern(nil).Join(line)
		if !p.Match(Segments(path)) || !l.Match(Segments(path)) {
			continue
		}
		met++
		var segs []string
		for _, s := range l {
			segs = append(segs, s.Text)
		}
		if !p.Meets(segs, every) {
			t.Fatalf("%q and %q both match %q and do not meet", line, rule, path)
		}
	}
	if met < 2000 {
		t.Errorf("only %d pairs meet: the test is empty", met)
	}
}
