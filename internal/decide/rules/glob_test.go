package rules

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/paths"
)

// TestDeepPatterns: what "**" on the line stands for.
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

// TestLinkedFolder: the folder of a pattern on the line is a link.
func TestLinkedFolder(t *testing.T) {
	pl := newPlace("/home/u", "/home/u/p", false)
	a := pl.named(&cardea.Access{Kind: cardea.Read, Glob: true, Path: "/home/u/.ssh", Pattern: "/home/u/p/x/*"})
	for g, want := range map[string]bool{"~/.ssh/id_rsa": true, "x/**": true, "/**/.ssh/id_rsa": true, "id_rsa": true, "~/.aws/**": false, "y/**": false} {
		if got := pl.glob(g).touches(a); got != want {
			t.Errorf("%s: %v", g, got)
		}
	}
	if pl.glob("x/**").covers(a.Access, pl) {
		t.Error("an allow follows a link out of its folder")
	}
}

// TestQuickPatternLookMissesNothing compares the quick look at patterns with
// the whole comparison.
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

// TestQuickLookMissesNothing: what mayTouch turns away, touches would, too.
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
		pl := newPlace(pick("/home/u", ""), pick("/home/u/p", ""), false)
		hit := pl.glob(g).touches(pl.named(&a))
		if hit {
			touched++
		}
		if hit && !pl.mayTouch(g, pl.keyOf(g), pl.named(&a)) {
			t.Fatalf("glob %q touches %+v in %+v, but the quick look says no", g, a, pl)
		}
		if pl.glob(g).covers(&a, pl) && !hit {
			t.Fatalf("glob %q covers %+v but does not touch it", g, a)
		}
	}
	if touched < 1000 {
		t.Errorf("only %d pairs touch: the test is empty", touched)
	}
}

func TestHostilePatternsAreQuick(t *testing.T) {
	begin := time.Now()
	pl := newPlace("/h", "/p", false)
	a := cardea.Access{Kind: cardea.Read, Path: "/", Glob: true, Pattern: strings.Repeat("/*", 1<<17)}
	pl.glob("/**/a/**/b/**/c").touches(pl.named(&a))
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		glob, host string
		want       bool
	}{
		{"a.example", "a.example", true}, {"A.example", "a.EXAMPLE.", true}, {"a.example", "a.example:8080", true}, {"*.example", "a.example", true},
		{"*.example", "example", false}, {"*", "", true}, {"a", "", false},
		{"169.254.169.254", "2852039166", true}, {"169.254.169.254", "0xA9FEA9FE", true}, {"169.254.169.254", "0251.0376.0251.0376", true},
		{"169.254.169.254", "169.254.43518", true}, {"169.254.169.254", "[::ffff:169.254.169.254]", true}, {"fd00:ec2::254", "[fd00:ec2:0::254]", true},
		{"169.254.169.254", "169.254.169.254.1", false}, {"169.254.169.254", "1.2.3.4", false}, {"0.0.0.1", "0b1", false}, {"127.0.0.1", "127.1", true},
		{"127.0.0.1", "256.0.0.1", false}, {"1.2.3.4", "1_0", false},
	} {
		if got := hostIs([]string{c.glob}, c.host); got != c.want {
			t.Errorf("host %q by %q: %v", c.host, c.glob, got)
		}
	}
}

// TestNeeds: what needs finds is part of every match.
func TestNeeds(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"cardea", "cardea"}, {"a|bcd", ""}, {"x(abc)+y", "abc"}, {"(abc)?d", ""}, {"(?:ab){2,}c", "ab"}, {"(abc)*", ""}, {"a.*Hello", "hello"},
		{"(", ""}, {"", ""}, {"ü.x", ""}, {"[ab]cd", "cd"}, {`[\x{200b}\x{feff}]`, beyondASCII}, {`[\x{17f}é]`, ""}, {`[\x{2000}-\x{3000}]`, ""}, {"[^x]", ""}, {"[é-ü]", beyondASCII},
		{"abc|Def", "abc,def"}, {"ab(cd|efg).*(hij|klm)", "hij,klm"}, {"abc|x*", ""}, {"(abc|abc)d", "abc"}, {"abc|ü+d", ""},
		{strings.Repeat("(ab|cd)|", maxNeeds) + "xy", ""},
	} {
		if got := strings.Join(needs(c.pattern), ","); got != c.want {
			t.Errorf("needs(%q) = %q, want %q", c.pattern, got, c.want)
		}
	}
	for _, c := range []struct {
		expr, text string
		is, same   bool
	}{
		{"^a$", "a", true, true}, {"^a$", "ab", true, false}, {"^(a|bc)$", "bc", true, true}, {"^(a|bc)$", "a|bc", true, false}, {"^(|a)$", "", true, true}, {"^a|b$", "a", false, false},
		{"^a.$", "a.", false, false}, {"^(a)|(b)$", "a", false, false}, {"(a)", "a", false, false}, {"^--x-y$", "--x-y", true, true}, {"^", "", false, false}, {"^$", "", true, true}, {"^a\\$", "a", false, false},
	} {
		if is, same := choice(c.expr, c.text); is != c.is || same != c.same {
			t.Errorf("choice(%q, %q) = %v, %v", c.expr, c.text, is, same)
		}
	}
	for _, c := range []struct {
		text, lower string
		want        bool
	}{
		{"x HELLO", "hello", true}, {"hell", "hello", false}, {"\u212a", "k", true}, {"a-b", "-b", true}, {"abc", beyondASCII, false}, {"ab\u200bc", beyondASCII, true}, {"\xff", beyondASCII, true}, {"", beyondASCII, false},
	} {
		if got := contains(c.text, c.lower); got != c.want {
			t.Errorf("contains(%q, %q) = %v", c.text, c.lower, got)
		}
	}
}

func FuzzParseRules(f *testing.F) {
	for _, s := range []string{
		"rules: [{id: a, effect: deny, match: {command: [git push], any: [{flags: -f}, {args: '^\\+'}]}}]",
		"rules: [{id: a, effect: allow, tool: [Bash, 'm*'], match: {path: ['~/x', a/**], access: read, host: '*.x'}}]",
		"rules:\n- &r {id: a, effect: ask, tool: X, tests: [{input: {command: x}, expect: none}]}\n- <<: *r\n  id: b\n",
		"rules: [{id: a, context: x, match: {field: a.b, pattern: '(?i)x'}}]", "rules: {", "version: 1",
	} {
		f.Add([]byte(s), "rm -rf /", "/p/x")
	}
	f.Fuzz(func(t *testing.T, data []byte, text, path string) {
		list, problems := Parse("f", data, Origin{Scope: cardea.ScopeUser})
		for _, p := range problems {
			if p.Text == "" || p.Line < 1 {
				t.Errorf("a problem without text or place: %#v", p)
			}
		}
		ev := &cardea.Event{Kind: cardea.PreToolUse, Project: "/p", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": text},
			Parts: []cardea.Part{{Text: text, Coverage: cardea.Complete, Command: strings.Fields(text),
				Access: []cardea.Access{{Kind: cardea.Write, Path: path, Glob: true, Pattern: path}, {Kind: cardea.Network, Host: text}}}}}}
		ops, err := New(ListOf(list), Settings{Home: "/h"}).Decide(t.Context(), ev)
		if err != nil {
			t.Errorf("a rule without problems cannot be run: %v", err)
		}
		for _, o := range ops {
			if o.Effect == cardea.Allow && o.Part == cardea.WholeCall {
				t.Error("a rule allows the whole call")
			}
		}
	})
}

// TestBits: a part has the bit of every program that a rule may know it by.
func TestBits(t *testing.T) {
	for _, c := range []struct{ rule, program string }{
		{"git", "GIT"}, {"git", "/usr/bin/git"}, {"bin/rails", "rails"}, {"cmd", "cmd.exe"}, {"kill", "\u212aill"}, {"ſh", "sh"},
	} {
		p := cardea.Part{Argv: []cardea.Word{{Text: c.program, Static: true}}, Wrappers: []string{"/usr/bin/timeout"}}
		if bitOf(c.rule)&bits(&p) == 0 {
			t.Errorf("rule %q is not asked about %q", c.rule, c.program)
		}
		if bitOf("timeout")&bits(&p) == 0 {
			t.Error("a wrapper has no bit")
		}
	}
	if p := (cardea.Part{Command: []string{"cmd.exe"}}); bitOf("cmd.exe")&bits(&p) == 0 {
		t.Error("a program that is known by its full name has no bit")
	}
	if bitOf("git") == bitOf("npm") {
		t.Error("all programs have one bit")
	}
}
