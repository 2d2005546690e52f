package bash

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/testing/testrun"
)

// hang is ten times the time that any of these may take on a slow machine.
const hang = 20 * time.Second

// TestHostileSizes checks that slow or deep lines end without a panic. A line over a
// limit must be opaque.
func TestHostileSizes(t *testing.T) {
	rep := func(s string, n int) string {
		if n >= 1000 {
			n = testrun.Pick(n/4|n&1, n)
		}
		return strings.Repeat(s, n)
	}
	lines := map[string]string{
		"nested substitutions":   rep("echo $(", 5000) + "id" + rep(")", 5000),
		"nested subshells":       rep("(", 20000) + "id" + rep(")", 20000),
		"nested groups":          rep("{ ", 100000) + "id; " + rep("}; ", 100000),
		"joined parameters":      "set -- $x a b; " + rep("x || ", 3000) + "y",
		"joined parameters in &": "set -- $x a b; " + rep("shift && set -- b$y || ", 3000) + "y",
		"joined values":          rep("x=$x$y && x=a || ", 3000) + "b $x",
		"nested ifs":             rep("if true; then ", 20000) + "id; " + rep("fi; ", 20000),
		"nested quotes":          rep(`"$(`, 3000) + "id" + rep(`)"`, 3000),
		"nested parameters":      "echo " + rep("${x:-", 20000) + rep("}", 20000),
		"nested arithmetic":      "echo $((" + rep("(", 20000) + "1" + rep(")", 20000) + "))",
		"unary operators":        "echo $((" + rep("!", 200000) + "1))",
		"minus operators":        "echo $((" + rep("- ", 200000) + "1))",
		"powers":                 "echo $((" + rep("2**", 100000) + "1))",
		"ternaries":              "echo $((" + rep("1?1:", 100000) + "1))",
		"assignments":            "echo $((" + rep("a=", 100000) + "1))",
		"tests":                  "[[ " + rep("! ", 100000) + "x ]]",
		"tests joined":           "[[ " + rep("x && ", 100000) + "x ]]",
		"tests or":               "[[ " + rep("x || ", 100000) + "x ]]",
		"commands":               rep("id; ", 200000),
		"and chain":              rep("id && ", 170000) + "id",
		"pipes":                  rep("id | ", 200000) + "id",
		"words":                  "echo " + rep("a ", 500000),
		"one word":               "echo " + rep("a", 1000000),
		"braces":                 "echo " + rep("{a,b}", 40),
		"brace sequences":        "echo {1..1000000000}{1..1000000000}",
		"nested braces":          "echo " + rep("{a,", 50) + "b" + rep("}", 50),
		"quotes":                 "echo " + rep("''", 500000),
		"doubling variable":      "a=xxxxxxxxxxxxxxxx; " + rep("a=$a$a; ", 60) + "echo $a",
		"doubling array":         "a=(x y); " + rep(`a=("${a[@]}" "${a[@]}"); `, 40) + `echo "${a[@]}"`,
		"functions calling":      doublingFunctions(40),
		"carried variables":      "for i in {1..30}; do " + numbered("x%d=$x%d; ", 20000) + "done",
		"carried texts":          "for i in {1..30}; do " + rep("x=$y$x; y=$x$y; ", 3000) + "done; a $x",
		"assignments in front":   numbered("x%d=$x%d ", 20000) + "a",
		"links of many names":    "for i in " + numbered("x%d=%d ", 60) + "; do x=$x; done; x=a; " + numbered("b && x=c%d; c && y=d%d; ", 60) + "ln -s $x $y",
		"aliases":                "alias " + doublingAliases(40),
		"evals":                  rep("eval ", 3000) + "id",
		"wrappers":               rep("nice ", 50000) + "id",
		"envs":                   rep("env ", 50000) + "id",
		"sudo":                   rep("sudo ", 20000) + "id",
		"find exec":              "find . " + rep("-exec find . ", 3000) + `\;`,
		"bash -c":                nestedBash(12),
		"here-documents":         rep("cat <<A; ", 500) + "\n" + rep("x\nA\n", 500),
		"here-document":          "cat <<A\n" + rep("$(id)\n", 50000) + "A",
		"backquotes":             "echo " + rep("`id` ", 100000),
		"open backquotes":        rep("`", 100001),
		"open quote":             "echo '" + rep("x", 900000),
		"comments":               rep("# x\n", 200000),
		"redirections":           "id" + rep(" > x", 100000),
		"globs":                  "ls " + rep("*", 100000),
		"cases":                  "case x in " + rep("a) id;; ", 50000) + "esac",
		"loops":                  rep("for i in 1; do ", 150) + "id; " + rep("done; ", 150),
		"whiles":                 rep("while x; do ", 150) + "id; " + rep("done; ", 150),
		"control":                rep("\x01", 1000),
		"parens in case":         "case x in " + rep("(", 5000),
		"arrays":                 "a=(" + rep("x ", 300000) + ")",
		"indexes":                "echo " + rep("${a[", 10000) + "1" + rep("]}", 10000),
		"escapes":                "echo " + rep(`\a`, 300000),
		"backslash newlines":     rep("\\\n", 300000) + "id",
		"twenty megabytes":       "echo " + rep("a", 20<<20),
		"let":                    "let " + rep("a=", 50000) + "1",
		"coprocs":                rep("coproc ", 20000) + "id",
		"times":                  rep("time ", 20000) + "id",
		"negations":              rep("! ", 20000) + "id",
		"process substitutions":  rep("cat <(", 5000) + "id" + rep(")", 5000),
		"unknown variables":      "echo " + rep("$x", 300000),
		"many variables":         manyVariables(20000),
		"if branches":            "x=1; if a; then x=2; " + rep("elif b; then x=3; ", 10000) + "fi",
		"traps":                  rep("trap 'id' EXIT; ", 4000),
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			done := make(chan Analysis, 1)
			begin := time.Now()
			go func() {
				done <- Analyse(line, Env{Cwd: "/w", System: knowledge.System{Home: "/h", Roots: []string{"/w"}}})
			}()
			select {
			case a := <-done:
				if len(a.Parts) == 0 && !strings.HasPrefix(line, "#") {
					t.Errorf("no part at all")
				}
				if len(a.Parts) > maxParts+maxPieces+1 {
					t.Errorf("%d parts", len(a.Parts))
				}
				if took := time.Since(begin); took > hang/4 {
					t.Logf("took %v", took)
				}
			case <-time.After(hang):
				t.Fatalf("still at it after %v", hang)
			}
		})
	}
}

func doublingFunctions(n int) string {
	var b strings.Builder
	b.WriteString("f0() { id; }; ")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "f%d() { f%d; f%d; }; ", i, i-1, i-1)
	}
	fmt.Fprintf(&b, "f%d", n-1)
	return b.String()
}

func doublingAliases(n int) string {
	var b strings.Builder
	b.WriteString("a0=id\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "alias a%d='a%d; a%d'\n", i, i-1, i-1)
	}
	fmt.Fprintf(&b, "a%d", n-1)
	return b.String()
}

func nestedBash(n int) string {
	s := "id"
	for range n {
		s = "bash -c " + Quote(s)
	}
	return s
}

func manyVariables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "v%d=1; (id); ", i)
	}
	return b.String()
}

// numbered repeats a text with the numbers n and n+1 in it.
func numbered(text string, times int) string {
	var out strings.Builder
	for i := range times {
		fmt.Fprintf(&out, text, i, i+1)
	}
	return out.String()
}

// TestDoubledLists checks short lines whose lists double at each step, which would fill
// any memory.
func TestDoubledLists(t *testing.T) {
	for _, line := range []string{
		"set -- a b; " + strings.Repeat(`set -- "$@" "$@"; `, 60) + `cat "$@"`,
		"a=(1 2); " + strings.Repeat(`a=("${a[@]}" "${a[@]}"); `, 60) + `cat "${a[@]}"`,
		"set -- a b; " + strings.Repeat(`x=("$@" "$@"); set -- "${x[@]}"; `, 60) + `cat "$@"`,
		"f() { g \"$@\" \"$@\"; }; g() { f \"$@\" \"$@\"; }; f a b",
		"set -- a b; " + strings.Repeat(`bash -c 'cat "$@"' "$@" "$@"; set -- "$@" "$@"; `, 60),
	} {
		if a := Analyse(line, Env{}); len(a.Parts) == 0 {
			t.Errorf("%.60q… has no parts", line)
		}
	}
}

func TestBeyondALimit(t *testing.T) {
	rep := strings.Repeat
	for _, c := range []struct{ before, behind string }{
		{"echo " + rep("a", grammar.MaxText) + "; ", ""},
		{"", "; echo " + rep("a", grammar.MaxText)},
		{rep("(", grammar.MaxNesting), rep(")", grammar.MaxNesting)},
		{rep("( ", grammar.MaxNesting), rep(")", grammar.MaxNesting)},
		{"", ";" + rep("( ", grammar.MaxNesting) + "id" + rep(")", grammar.MaxNesting)},
		{rep("id; ", maxParts+1), ""},
		{"", rep("; id", maxParts+1)},
		{rep("eval ", maxScripts), ""},
		{rep("eval command ", maxScripts), ""},
		{rep("nice -n 5 ", maxWrappers+1), ""},
		{rep("time ", grammar.MaxNesting), ""},
		{"bash -c '" + rep("eval ", maxScripts), "'"},
	} {
		for _, command := range []string{"rm -rf /", "ls"} {
			line := c.before + command + c.behind
			a := Analyse(line, Env{})
			if !a.beyondLimit() {
				t.Errorf("%.40q… is beyond a limit, and no spot says so", line)
			}
			seen := func(p cardea.Part) bool { return p.Text == command }
			// Text after a megabyte is not read.
			if !strings.HasPrefix(line, "echo") && !slices.ContainsFunc(a.Parts, seen) {
				t.Errorf("%.40q… hides %q", line, command)
			}
		}
	}
	for _, line := range []string{"eval eval ls", rep("(", grammar.MaxNesting/2) + " ls" + rep(")", grammar.MaxNesting/2), rep("ls; ", maxParts/10)} {
		if a := Analyse(line, Env{}); a.beyondLimit() {
			t.Errorf("%.40q… is within all limits", line)
		}
	}
}
