package pathglob

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// TestDeepPatterns checks what "**" on the command line stands for.
func TestDeepPatterns(t *testing.T) {
	for _, c := range []struct {
		line, rule string
		want       bool
	}{
		{"/etc/**/x", "/etc/a/x", true}, {"/**/shadow", "/etc/shadow", true}, {"/a/**/*.json", "/a/b/*/x.json", true}, {"/a/**", "/a/b/**", true},
		{"/a/**/*.ts", "/a/.git/**", false}, {"/a/.git/**/x", "/**/.git/**", true}, {"/a/**/*.ts", "/**/.husky/**", false},
		{"/a/**/*.ts", "/**/snap/firefox/**", false}, {"/a/snap/**/x", "/**/snap/firefox/**", false}, {"/a/snap/firefox/**/x", "/**/snap/firefox/**", true},
		{"/a/**/id_rsa", "/**/id_rsa", true}, {"/a/**/.ssh/id_rsa", "/**/.ssh/id_rsa", true},
	} {
		if got := overlap(paths.Segments(c.line), paths.Pattern(nil).Join(c.rule), true); got != c.want {
			t.Errorf("%s and %s: %v, want %v", c.line, c.rule, got, c.want)
		}
	}
}

// TestFilesOfPattern checks that existing files replace a pattern, unless the pattern says
// part of the name.
func TestFilesOfPattern(t *testing.T) {
	pl := NewPlace("/home/u", "/home/u/p", false)
	a := pl.Name(&cardea.Access{Kind: cardea.Write, Glob: true, Path: "/home/u/p/x", Pattern: "/home/u/p/x/*", Files: &cardea.Files{Names: []string{"/home/u/p/x/*", "/home/u/p/x/a", "/home/u/.ssh/b"}}})
	for g, want := range map[string]bool{"x/a": true, "x/b": false, "id_rsa": false, "x/**": true, "x/*": true, "x/*.pem": false, "~/.ssh/b": true, "~/.ssh/**": true, "/": false} {
		if got := pl.Glob(g).Touches(a); got != want {
			t.Errorf("%s: %v", g, got)
		}
		pl.Glob(g).IsNamedBy(a, false) // the root has no name
	}
	b := pl.Name(&cardea.Access{Kind: cardea.Write, Glob: true, Path: "/home/u/p", Pattern: "/home/u/p/left*", Files: &cardea.Files{Names: []string{"/home/u/p/left*"}}})
	for g, want := range map[string]bool{"lefthook.yml": true, "Makefile": false} {
		if got := pl.Glob(g).Touches(b); got != want {
			t.Errorf("%s: %v", g, got)
		}
	}
}

// TestSaysName checks which patterns of a command line say part of a name. A class is one
// character.
func TestSaysName(t *testing.T) {
	pl := NewPlace("/home/u", "/home/u/p", false)
	for _, c := range []struct {
		line, rule string
		want       bool
	}{
		{"[a-z]*", "lefthook.yml", false}, {"?*", "lefthook.yml", false}, {"[[:alpha:]]*", "lefthook.yml", false}, {"*[!.]", "lefthook.yml", false},
		{"[]abc]*", "lefthook.yml", false}, {"*.[jt]s", ".env", false}, {"[a-c][d-f][g-i]*", "lefthook.yml", false},
		{"[l]*", "lefthook.yml", true}, {"[l-l]*", "lefthook.yml", true}, {`[\l]*`, "lefthook.yml", true}, {"[[.l.]]*", "lefthook.yml", true}, {"[a-z]efthook*", "lefthook.yml", true},
		{"[a-z", "lefthook.yml", true}, {"[.]env*", ".env", true}, {"[.]env*", ".env*", true}, {".en[v]", ".env", true}, {".en[v]", ".env*", true}, {".e[n]v", ".env*", true},
		{"[!x]env", ".env", true},
		{"[.]git", ".*", true},
		{"[.]git*", ".*", false},
		{"[.]*", ".env", true},
		{".[a-z]*", ".env", true},
		{`\.e*`, ".env", true},
		{"*[s]ecret*", "*secret*", true},
		{"*[a-z]ecret*", "*.json", false},
	} {
		if got := pl.Glob(c.rule).saysName(newLastName(c.line)); got != c.want {
			t.Errorf("%s and %s: %v", c.line, c.rule, got)
		}
	}
}

// TestLinkedFolder checks a pattern whose folder is a link.
func TestLinkedFolder(t *testing.T) {
	pl := NewPlace("/home/u", "/home/u/p", false)
	a := pl.Name(&cardea.Access{Kind: cardea.Read, Glob: true, Path: "/home/u/.ssh", Pattern: "/home/u/p/x/*"})
	for g, want := range map[string]bool{"~/.ssh/id_rsa": true, "x/**": true, "/**/.ssh/id_rsa": true, "id_rsa": true, "~/.aws/**": false, "y/**": false} {
		if got := pl.Glob(g).Touches(a); got != want {
			t.Errorf("%s: %v", g, got)
		}
	}
	if pl.Glob("x/**").Covers(a.Access, pl) {
		t.Error("an allow follows a link out of its folder")
	}
}

// TestQuickPatternLookMissesNothing compares the quick check of patterns with the full
// comparison.
func TestQuickPatternLookMissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	letters := []string{"a", "b", "*", "?", "[ab]", ".", "[!a]", `\a`, "{a,b}"}
	text := func(n int) string {
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	met := 0
	for range 200_000 {
		pattern, name := text(4), strings.NewReplacer("*", "", "?", "", "[ab]", "a", "[!a]", "b", `\a`, "a", "{a,b}", "b").Replace(text(4))
		if paths.MayBeNamed(pattern, name) {
			met++
			if e := endsOf(pattern); !strings.HasPrefix(name, e.front) || !strings.HasSuffix(name, e.back) {
				t.Fatalf("%q matches %q, but the quick look says no", pattern, name)
			}
		}
	}
	if met < 1000 {
		t.Errorf("only %d pairs meet: the test is empty", met)
	}
}

// TestQuickLookMissesNothing checks that Touches is false whenever MayTouch is.
func TestQuickLookMissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	path := func() string {
		p := pick("", "/home/u", "/home/u/p", "/etc", "/home", "/")
		for range r.IntN(3) {
			p = strings.TrimSuffix(p, "/") + "/" + pick("a", "b", ".x", "a.go")
		}
		return p
	}
	kinds := []cardea.AccessKind{cardea.Read, cardea.Write, cardea.Delete}
	touched := 0
	for range 200_000 {
		g := pick("", "~/", "/", "/**/", "**/", "./", "../", "/home/", "~/../")
		for range r.IntN(3) {
			g += pick("a", "b", ".x", "*.go", "**", "[ab]", "..", "u", "p") + "/"
		}
		g += pick("a", "b", "**", "*", ".x", "a.go", "")
		a := cardea.Access{Kind: kinds[r.IntN(3)], Path: path(), Recursive: r.IntN(2) == 0}
		if r.IntN(4) == 0 {
			a.Spelled = path()
		}
		if r.IntN(4) == 0 {
			a.Glob, a.Pattern = true, a.Path+"/"+pick("*", "a*", "*/b")
		}
		pl := NewPlace(pick("/home/u", ""), pick("/home/u/p", ""), false)
		hit := pl.Glob(g).Touches(pl.Name(&a))
		if hit {
			touched++
		}
		if hit && !pl.MayTouch(g, pl.KeyOf(g), pl.Name(&a)) {
			t.Fatalf("glob %q touches %+v in %+v, but the quick look says no", g, a, pl)
		}
		if pl.Glob(g).Covers(&a, pl) && !hit {
			t.Fatalf("glob %q covers %+v but does not touch it", g, a)
		}
	}
	if touched < 1000 {
		t.Errorf("only %d pairs touch: the test is empty", touched)
	}
}

func TestHostilePatternsAreQuick(t *testing.T) {
	begin := time.Now()
	pl := NewPlace("/h", "/p", false)
	a := cardea.Access{Kind: cardea.Read, Path: "/", Glob: true, Pattern: strings.Repeat("/*", 1<<17)}
	pl.Glob("/**/a/**/b/**/c").Touches(pl.Name(&a))
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}
