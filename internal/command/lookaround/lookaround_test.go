package lookaround_test

import (
	"regexp"
	"strings"
	"testing"

	"cardea.dev/internal/command/lookaround"
)

// pieces is an expression taken apart by hand: not or yes, before and behind.
type pieces struct{ behind, head, ahead, tail string }

// found reports whether the expression matches, by trying all positions.
func (p pieces) found(s string) bool {
	holds := func(look, at string, ahead bool) bool {
		kind, body, _ := strings.Cut(look, " ")
		if kind == "" {
			return true
		}
		expr := `(?i)\A(?:` + body + ")"
		if !ahead {
			expr = "(?i)(?:" + body + `)\z`
		}
		return regexp.MustCompile(expr).MatchString(at) == (kind == "yes")
	}
	for i := 0; i <= len(s); i++ {
		for j := i; j <= len(s); j++ {
			// The head also gets the text before it, for ^ and \b.
			if regexp.MustCompile(`(?i)\A(?s:.{`+itoa(i)+`})(?:`+p.head+`)\z`).MatchString(s[:j]) && holds(p.behind, s[:i], false) &&
				holds(p.ahead, s[j:], true) && regexp.MustCompile(`(?i)\A(?:`+p.tail+")").MatchString(s[j:]) {
				return true
			}
		}
	}
	return false
}

func itoa(n int) string {
	return strings.TrimLeft(string(rune('0'+n/10))+string(rune('0'+n%10)), "0") + map[bool]string{true: "0"}[n == 0]
}

func TestRemove(t *testing.T) {
	for _, p := range []pieces{
		{"", "a", "not b", ""},
		{"", "a", "not .*b", ""},
		{"", "a", "not .*(bb|-a)", ""},
		{"", "a", "yes b", ""},
		{"", "a", "not b", "[a-c]"},
		{"", "^", "not .*b", "a.*-"},
		{"", "^", "yes .*b", ".*a"},
		{"", "a", `not \s`, ".b"},
		{"", "a", "not (?:b|-|\\n?\\z)", ""},
		{"", "a-", "not b\\b", ""},
		{"not b", "a", "", ""},
		{"not -b", "a", "", ""},
		{"yes b", "a", "", ""},
		{"not [ab]", "a-", "not a", ""},
	} {
		pattern := p.head
		if kind, body, _ := strings.Cut(p.ahead, " "); kind != "" {
			pattern += map[string]string{"not": "(?!", "yes": "(?="}[kind] + body + ")"
		}
		pattern += p.tail
		if kind, body, _ := strings.Cut(p.behind, " "); kind != "" {
			pattern = map[string]string{"not": "(?<!", "yes": "(?<="}[kind] + body + ")" + pattern
		}
		got, err := lookaround.Remove(pattern, true)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		t.Logf("%s becomes %s", pattern, got)
		if err := lookaround.Check(pattern); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		re, loose := regexp.MustCompile("(?i)"+got), regexp.MustCompile("(?i)"+lookaround.Loose(pattern))
		each("aBb-\n ", 4, func(s string) {
			if re.MatchString(s) && !loose.MatchString(s) {
				t.Errorf("%s: %q is found, and not by %s", pattern, s, loose)
			}
			if re.MatchString(s) != p.found(s) {
				t.Errorf("%s: %q is found: %v; %s", pattern, s, p.found(s), got)
			}
		})
	}
}

// each calls try with all short texts of some letters, and with some of the longer ones
// up to a length.
func each(letters string, most int, try func(string)) {
	var walk func(s string)
	walk = func(s string) {
		try(s)
		if len(s) < most {
			for i := range letters {
				if len(s) < 3 || (i+len(s))%2 == 0 {
					walk(s + letters[i:i+1])
				}
			}
		}
	}
	walk("")
}

func TestReal(t *testing.T) {
	for pattern, want := range map[string]map[string]bool{
		`^\s*gh\s+pr\s+create\b(?!.*--body-file)`:   {"gh pr create --title x": true, "gh pr create --body-file x": false, "gh pr create --body x": true, "gh pr view": false},
		`git commit(?!.*(-m|--message|-F))`:         {"git commit": true, "git commit -a -m x": false, "git commit --amend": true},
		`github\.com/(?!orgs/|settings)[^/]+/[^/]+`: {"https://github.com/o/r": true, "https://github.com/orgs/x": false, "https://github.com/Settings/x": false},
		`(?<!no-)verify|x(?=y)`:                     {"--no-verify": false, "verify": true, "xy": true, "xz": false},
		`^(?=.*\bfoo\b)(?=.*bar)`:                   {"bar foo": true, "foobar": false, "foo": false},
		`x(a(?!b)|c)d`:                              {"xad": true, "xcd": true, "xab": false, "xabd": false},
		`gh (pr (?!view)|issue )?(create|x)`:        {"gh pr create": true, "gh issue create": true, "gh create": true, "gh pr view": false, "gh x": true},
		`(?:git (?P<v>push(?!.*--dry)|pull))`:       {"git push": true, "git push --dry-run": false, "git pull --dry": true, "git fetch": false},
		`a((b|c(?!d))|e(?!f))g?`:                    {"ab": true, "acd": false, "acg": true, "ac": true, "aef": false, "aeg": true},
	} {
		got, err := lookaround.Remove(pattern, true)
		if err != nil {
			if strings.Contains(pattern, `\b`) && strings.HasPrefix(pattern, "^(?=") {
				continue // the edge of a word at the very beginning
			}
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		t.Logf("%s becomes %s (%d)", pattern, got, len(got))
		if err := lookaround.Check(pattern); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		loose := regexp.MustCompile("(?i)" + lookaround.Loose(pattern))
		for s, is := range want {
			if is && !loose.MatchString(s) {
				t.Errorf("%s: %q is not found by %s", pattern, s, loose)
			}
			if regexp.MustCompile("(?i)"+got).MatchString(s) != is {
				t.Errorf("%s: %q, want %v", pattern, s, is)
			}
		}
	}
}

func TestLeftAlone(t *testing.T) {
	for _, pattern := range []string{`(a(?!b)|c)*d`, `(?i:a(?!b))c`, `((?i)a(?!b))c`, `x(a(?!b)|c)+d`, `(a(?!b)|c){2}d`, `a(?!b)*`, `a(?!b)c(?!d)`, `x(?<!y)z`, `a(?!^b)`, `a(?!`, `a(?!.{90}b)`} {
		if got, err := lookaround.Remove(pattern, false); err == nil {
			t.Errorf("%s became %s", pattern, got)
		}
	}
	if got, err := lookaround.Remove(`a\(b`, false); err != nil || got != `a\(b` {
		t.Errorf("%s %v", got, err)
	}
}
