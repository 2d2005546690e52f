package rules

import (
	"strings"
	"testing"

	"cardea.dev"
)

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

// TestNeeds tests that every match contains a text that needs returns.
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
		{"^a.$", "a.", false, false},
		{"^(a)|(b)$", "a", false, false},
		{"(a)", "a", false, false},
		{"^--x-y$", "--x-y", true, true},
		{"^", "", false, false},
		{"^$", "", true, true},
		{"^a\\$", "a", false, false},
	} {
		if is, same := choice(c.expr, c.text); is != c.is || same != c.same {
			t.Errorf("choice(%q, %q) = %v, %v", c.expr, c.text, is, same)
		}
	}
	for _, c := range []struct {
		text, lower string
		want        bool
	}{
		{"x HELLO", "hello", true},
		{"hell", "hello", false},
		{"\u212a", "k", true},
		{"a-b", "-b", true},
		{"abc", beyondASCII, false},
		{"ab\u200bc", beyondASCII, true},
		{"\xff", beyondASCII, true},
		{"", beyondASCII, false},
	} {
		if got := newSearched(c.text).contains(c.lower); got != c.want {
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
			Parts: []cardea.Part{{
				ShellFacts:   cardea.ShellFacts{Text: text, Coverage: cardea.Complete},
				CommandFacts: cardea.CommandFacts{Command: strings.Fields(text), Access: []cardea.Access{{Kind: cardea.Write, Path: path, Glob: true, Pattern: path}, {Kind: cardea.Network, Host: text}}},
			}}}}
		ops, err := New(ListOf(list), Options{Home: "/h"}).Decide(t.Context(), ev)
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

// TestBits tests that a part has the bit of every program name that a rule may use for it.
func TestBits(t *testing.T) {
	for _, c := range []struct{ rule, program string }{
		{"git", "GIT"}, {"git", "/usr/bin/git"}, {"bin/rails", "rails"}, {"cmd", "cmd.exe"}, {"kill", "\u212aill"}, {"ſh", "sh"},
	} {
		p := cardea.Part{
			ShellFacts: cardea.ShellFacts{Argv: []cardea.Word{{Text: c.program, Static: true}}, Wrappers: []string{"/usr/bin/timeout"}},
		}
		if bitOf(c.rule)&bits(&p) == 0 {
			t.Errorf("rule %q is not asked about %q", c.rule, c.program)
		}
		if bitOf("timeout")&bits(&p) == 0 {
			t.Error("a wrapper has no bit")
		}
	}
	if p := (cardea.Part{CommandFacts: cardea.CommandFacts{Command: []string{"cmd.exe"}}}); bitOf("cmd.exe")&bits(&p) == 0 {
		t.Error("a program that is known by its full name has no bit")
	}
	if bitOf("git") == bitOf("npm") {
		t.Error("all programs have one bit")
	}
}
