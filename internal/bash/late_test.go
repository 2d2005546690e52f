package bash

import "testing"

func TestLateOptions(t *testing.T) {
	for _, line := range []string{"head -n 5 a.txt", "head a.txt -n 5", "grep foo src -A 3", "rg foo src -g 'a.b' --type go", "grep foo src --include '*.go'"} {
		if !surely(line) {
			t.Errorf("not certain: %q", line)
		}
	}
	for _, line := range []string{"head a.txt -n .env", "sed 'w out' -e p", "awk 1 -v .env", "gzip a.gz -l", "grep x a.txt -e .env/x", "mktemp x -u", "head a.txt -n \"$x\""} {
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

func TestFromProgram(t *testing.T) {
	for text, want := range map[string]bool{"<(cat a)": true, "<(cat a)b": false, "<(cat a)<(cat b)": false, "\"<($x)\"": false, "$x": false, "<(cat a": false} {
		if got := fromProgram(field{Word: word(text).Word}); got {
			t.Errorf("a static %q comes from a program", text)
		}
		f := word(text)
		f.Static = false
		if got := fromProgram(f); got != want {
			t.Errorf("fromProgram(%q) = %v", text, got)
		}
	}
}
