package paths

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestMatchName(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"a", "a", true}, {"a", "b", false}, {"*", "", true}, {"*", "a/b", true}, {"a*c", "abbc", true}, {"a*c", "abb", false},
		{"?", "é", true}, {"?", "", false}, {"[a-c]x", "bx", true}, {"[a-c]x", "dx", false}, {"[!a]", "b", true}, {"[^a]", "a", false},
		{"[]]", "]", true},
		{"[", "[", true},
		{"[a", "[a", true},
		{"[[:alpha:]]", "x", true},
		{"[[:e]", "e", true},
		{"[[:alpha:]", "[[:alpha:]", true},
		{"a**b", "ab", true},
		{"*a", "aaab", false},
		{"[a-]", "-", true},
		{`\*`, "*", true}, {`\*`, "a", false}, {`a\`, `a\`, true}, {`[\]a]`, "]", true}, {`[\]a]`, `\`, false}, {"[[:digit:]]", "x", false}, {"[![:digit:]]", "x", true},
		{"[[:digit:]x-z]", "y", true}, {"[[=a=]]", "a", false}, {"[a-\\c]", "b", true},
	} {
		if got := MatchName(c.pattern, c.name); got != c.want {
			t.Errorf("MatchName(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

// TestMatchNameIsARegexp compares with the equivalent regular expression.
func TestMatchNameIsARegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(letters string, n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	for range 20_000 {
		pattern, name := text("ab*?", 8), text("ab", 8)
		re := regexp.MustCompile(`\A(?s:` + strings.NewReplacer("*", ".*", "?", ".").Replace(pattern) + `)\z`)
		if got := MatchName(pattern, name); got != re.MatchString(name) {
			t.Fatalf("MatchName(%q, %q) = %v", pattern, name, got)
		}
	}
}

// TestOverlapFindsWhatBothMatch checks that two patterns overlap if both match a name.
func TestOverlapFindsWhatBothMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	blur := func(name string) string {
		var b strings.Builder
		for _, c := range name {
			switch r.IntN(5) {
			case 0:
				b.WriteByte('?')
			case 1:
				b.WriteByte('*')
			case 2:
				b.WriteString("[" + string(c) + "x]")
			default:
				b.WriteRune(c)
			}
		}
		return b.String()
	}
	for range 20_000 {
		name := strings.Repeat("ab", r.IntN(3)) + "c"
		line, rule := blur(name), blur(name)
		if !(Segment{Text: rule}).meets(line) {
			t.Fatalf("%q and %q both match %q", line, rule, name)
		}
	}
	for _, c := range []struct {
		line, rule string
		want       bool
	}{
		{"*.go", "*.js", false}, {"a*", "b*", false}, {"*", ".env", false}, {".*", ".env", true}, {"[a-c]", "[x-z]", true}, {"@(a|b)", "x", true},
		{"[abc]", "d", false}, {"x?", "x", false},
		// A class that depends on the locale or the program may stand for anything.
		{".[[=e=]]nv", ".env", true}, {".[[.e.]]nv", ".env", true}, {`\.env`, ".env", true}, {`.\env`, ".env", true}, {".{env,x}", ".env", true}, {"{x}*", ".env", false},
		{`a\*`, `a\*`, true},
	} {
		if got := (Segment{Text: c.rule, Literal: !IsPattern(c.rule)}).meets(c.line); got != c.want {
			t.Errorf("overlap of %q and %q: %v", c.line, c.rule, got)
		}
	}
}

func TestHostilePatternsAreQuick(t *testing.T) {
	begin := time.Now()
	long := strings.Repeat("a", 1<<20)
	Segment{Text: "*a*a*a*b"}.meets(strings.Repeat("*a", 1<<17))
	MatchName("*a*a*a*b", long)
	for _, p := range []string{"[", "[[:", "[[:a:]", "[!]", "[a-", `[\\`} {
		MatchName(strings.Repeat(p, 1<<18), "x")
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestMayLeadUp(t *testing.T) {
	for pattern, want := range map[string]bool{
		"a/*": false, "a/?/b": false, "a/??/b": false, "a/[.]./b": false, "a/.env*": false, "a/.[a-z]*": false, "a/**/b": false, "/": false, "": false,
		"a/../b": true, "a/.*/b": true, "a/.?": true, "a/.[.]/b": true, "a/.[^a]/b": true, "a/.@(.|x)/b": true, "a/.[[.period.]]/b": true, `a/\..*/b`: true, `a/\.?/b`: true,
	} {
		if got := MayLeadUp(pattern); got != want {
			t.Errorf("MayLeadUp(%q) = %v", pattern, got)
		}
	}
}
