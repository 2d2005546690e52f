package inline_test

import (
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/knowledge/inline"
	"cardea.dev/internal/testing/testrun"
)

func TestScripts(t *testing.T) {
	for _, c := range testrun.Cases(t, "testdata/scripts.txt", 2) {
		use, ok := inline.Read("python", c.Text(), func(list string) []string {
			words, _ := knowledge.WordsOf(form.LanguageCalls, list)
			return words
		})
		got := "no"
		if ok {
			var words []string
			if len(use.Read) > 0 {
				words = append(words, "reads", strings.Join(use.Read, " "))
			}
			if len(use.Listed) > 0 {
				words = append(words, "lists", strings.Join(use.Listed, " "))
			}
			if got = strings.Join(words, " "); got == "" {
				got = "-"
			}
		}
		if got != c.Columns[0] {
			t.Errorf("%s: %q, want %q: %s", c.At(), got, c.Columns[0], c.Text())
		}
	}
}
