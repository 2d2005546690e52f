package bash

import (
	"testing"

	"cardea.dev/internal/command/knowledge"
)

func TestLateOptions(t *testing.T) {
	for _, line := range []string{
		"head -n 5 a.txt",
		"head a.txt -n 5",
		"grep foo src -A 3",
		"rg foo src -g 'a.b' --type go",
		"grep foo src --include '*.go'",
	} {
		if !surely(line) {
			t.Errorf("not certain: %q", line)
		}
	}
	for _, line := range []string{
		"head a.txt -n .env",
		"sed 'w out' -e p",
		"awk 1 -v .env",
		"gzip a.gz -l",
		"grep x a.txt -e .env/x",
		"mktemp x -u",
		"head a.txt -n \"$x\"",
	} {
		if surely(line) {
			t.Errorf("certain: %q", line)
		}
	}
}

func TestSwallowedOptions(t *testing.T) {
	for _, line := range []string{"head -n -5 a.txt", "ps aux --sort -rss", "grep --context=-x y a.txt", "head -n5 -q a.txt"} {
		if !surely(line) {
			t.Errorf("not certain: %q", line)
		}
	}
	for _, line := range []string{"head -n -x a.txt", "grep -e --file=x a.txt", "fzf --query --preview id", "tail -n --version a.txt"} {
		if surely(line) {
			t.Errorf("certain: %q", line)
		}
	}
}

// TestProcessSubstitution checks that a word of one process substitution has no access
// of its own: it names the output of another part.
func TestProcessSubstitution(t *testing.T) {
	for line, want := range map[string]int{"cat <(cat a)": 0, "cat <(cat a)b": 1, "cat <(cat a)<(cat b)": 1, "cat \"<(x)\"": 1, "cat \"$x\"": 1} {
		parts := Analyse(line, Env{Cwd: "/work/p", System: knowledge.System{Home: "/home/u"}}).Parts
		if got := len(parts[len(parts)-1].Access); got != want {
			t.Errorf("%q: %d accesses, want %d: %+v", line, got, want, parts)
		}
	}
}
