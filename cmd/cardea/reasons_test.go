package main

import (
	"os"
	"strings"
	"testing"

	"cardea.dev/internal/testing/sharedtest"
)

// TestReasonIsWhatIsLostFirst judges lines that several rules stop. The first line of the
// reason is the most important one and names the file. No sentence appears twice.
func TestReasonIsWhatIsLostFirst(t *testing.T) {
	data, err := os.ReadFile("../../testdata/reasons.tsv")
	if err != nil {
		t.Fatal(err)
	}
	w := holePlace(t, holeSetup{Files: map[string]string{".env": "A=b\n", ".claude/settings.json": "{}\n"}})
	rows := 0
	for row := range strings.Lines(string(data)) {
		line, want, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if !ok {
			continue
		}
		rows++
		effect, reason := w.answer("default", "Bash", sharedtest.Unescape(line))
		if first, _, _ := strings.Cut(reason, "\n"); !shut(effect) || !strings.Contains(first, want) {
			t.Errorf("%s: %s, %q, want %q", line, effect, reason, want)
		}
		seen := map[string]bool{}
		for _, sentence := range strings.FieldsFunc(reason, func(r rune) bool { return r == '.' || r == '\n' }) {
			if sentence = strings.TrimSpace(sentence); len(sentence) > 20 && seen[sentence] {
				t.Errorf("%s: %q is said twice in %q", line, sentence, reason)
			}
			seen[sentence] = true
		}
	}
	if rows < 40 {
		t.Errorf("only %d lines", rows)
	}
}
