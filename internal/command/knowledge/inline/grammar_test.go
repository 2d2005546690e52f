package inline

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// listed replaces the lists of command knowledge.
func listed(list string) []string {
	return map[string][]string{
		"Python that reads":        {"print", "len", "open:reads", "os.listdir:lists", ".read"},
		"JavaScript that reads":    {"console.log", "fs.readFileSync:reads", ".map"},
		"JavaScript's other names": {"module fs"},
	}[list]
}

// TestGrammars checks that each rule and check that a grammar names exists, and that
// each one is used.
func TestGrammars(t *testing.T) {
	for name, l := range languages {
		g := l.grammar()
		used := map[string]bool{"script": true}
		checked := map[string]bool{}
		var walk func(e *expression)
		walk = func(e *expression) {
			switch e.sign {
			case ruleName:
				used[e.text] = true
				if g[e.text] == nil {
					t.Errorf("%s: there is no rule %s", name, e.text)
				}
			case '"':
				used["blank"] = true
				used["wordend"] = used["wordend"] || isName(e.text[len(e.text)-1])
			case '@', '$':
				checked[e.text] = true
				if l.checks[e.text] == nil {
					t.Errorf("%s: there is no check %s", name, e.text)
				}
			}
			for _, of := range e.of {
				walk(of)
			}
		}
		for _, e := range g {
			walk(e)
		}
		for rule := range g {
			if !used[rule] {
				t.Errorf("%s: nothing uses the rule %s", name, rule)
			}
		}
		for check := range l.checks {
			if !checked[check] {
				t.Errorf("%s: nothing uses the check %s", name, check)
			}
		}
	}
}

// TestLimits checks that a script beyond a limit is not read, wherever the limit is reached.
// After a "!", a rule that was cut short would look like one that does not match.
func TestLimits(t *testing.T) {
	g := parse("script <- nest !.\nnest <- '(' nest ')' / !bad [a-z]+\nbad <- 'b' more\nmore <- last\nlast <- 'ad'\n")
	accepted := 0
	for n := range nested {
		for _, inner := range []string{"ok", "bad"} {
			r := &reading{grammar: g, s: strings.Repeat("(", n) + inner + strings.Repeat(")", n)}
			switch {
			case !r.all():
			case inner == "bad":
				t.Fatalf("read what the grammar refuses, %d deep", n)
			default:
				accepted++
			}
		}
	}
	if accepted == 0 || accepted == nested {
		t.Errorf("read %d of %d depths", accepted, nested)
	}
	for language, piece := range map[string]string{"python": "(", "node": "[", "perl": "!", "awk": "("} {
		if _, ok := Read(language, strings.Repeat(piece, 1<<17), listed); ok {
			t.Errorf("%s: read %q many times", language, piece)
		}
	}
}

// TestLongScripts checks that a script of any length is read or refused soon. The time
// limit catches a read without end.
func TestLongScripts(t *testing.T) {
	for language, piece := range map[string]string{"python": "x = 1\n", "node": "let x = 1; ", "perl": "$x = 1; ", "awk": "{ x = 1 } "} {
		began := time.Now()
		Read(language, strings.Repeat(piece, 1<<17/len(piece)), listed)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: took %s", language, took)
		} else {
			t.Logf("%s: %s", language, took)
		}
	}
}

func FuzzRead(f *testing.F) {
	names := slices.Sorted(maps.Keys(languages))
	for i := range names {
		for _, script := range []string{"print(open('a').read())", "console.log(1+2);", `print "$1" if /(a)/;`, "{ print $1 }", "f'{x!r:>{3}}'", "((((", "'''"} {
			f.Add(i, script)
		}
	}
	f.Fuzz(func(t *testing.T, i int, script string) {
		use, ok := Read(names[uint(i)%uint(len(names))], script, listed)
		for _, file := range slices.Concat(use.Read, use.Listed) {
			if !ok || !strings.Contains(script, file) {
				t.Errorf("%q: reads %q", script, file)
			}
		}
	})
}
