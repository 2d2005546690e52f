package grammar

import (
	"slices"
	"strings"
	"testing"
)

func TestPlainWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                  nil,
		"git push --force":                  {"git", "push", "--force"},
		"  npm   test\t-- -u ":              {"npm", "test", "--", "-u"},
		"docker compose up *":               {"docker", "compose", "up", "*"},
		`git commit --no-verify -m 'a b'`:   {"git", "commit", "--no-verify", "-m", "a b"},
		`git commit -m "it's a *"`:          {"git", "commit", "-m", "it's a *"},
		`grep -E 'a|b$' "x y.txt"`:          {"grep", "-E", "a|b$", "x y.txt"},
		`echo '#1' "" don"'"t`:              {"echo", "#1", "", "don't"},
		"sed 's/\\(a\\)/$1/' f":             {"sed", "s/\\(a\\)/$1/", "f"},
		"ünïcode ~/x !":                     {"ünïcode", "~/x", "!"},
		"psql -c 'DROP TABLE t; SELECT(1)'": {"psql", "-c", "DROP TABLE t; SELECT(1)"},
	} {
		got, err := PlainWords(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		if again, err := PlainWords(Quoted(got)); err != nil || !slices.Equal(again, got) {
			t.Errorf("%s is written as %s, which is read as %q, %v", text, Quoted(got), again, err)
		}
	}
}

// TestPlainWordsRefuse checks that text which a shell would replace, run or end is
// refused, in quotes or without them.
func TestPlainWordsRefuse(t *testing.T) {
	for _, text := range []string{
		"rm $HOME",
		`rm "$HOME"`,
		"rm `id`",
		`rm "$(id)"`,
		"rm *.go",
		"rm a?",
		"rm [ab]",
		"rm {a,b}",
		"rm a; id",
		"rm a | id",
		"rm a & id",
		"rm a > b",
		"rm a\\ b",
		`rm "a\"b"`,
		"rm 'a",
		`rm "a`,
		"rm (a)",
		"rm '*'",
		"rm \"*\"",
		"rm $'a'",
		"rm 'a\x1b[0m'",
		"rm 'a\nb'",
		"rm 'a\u202eb'",
		"rm 'a\u00a0b\x00'",
		"rm $((1))",
		"rm <(id)",
		"rm ${x}",
	} {
		if got, err := PlainWords(text); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

func FuzzPlainWords(f *testing.F) {
	f.Add("git commit -m 'a b'")
	f.Fuzz(func(t *testing.T, text string) {
		words, err := PlainWords(text)
		if err != nil || slices.Contains(words, "*") {
			return
		}
		if again, err := PlainWords(Quoted(words)); err != nil || !slices.Equal(again, words) {
			t.Fatalf("%q is written as %q, which is read as %q, %v", words, Quoted(words), again, err)
		}
	})
}

// TestQuoted checks that words are quoted if needed, so that bash and zsh read them alike.
func TestQuoted(t *testing.T) {
	if got := Quoted([]string{"git", "commit", "-m", "it's"}); got != `git commit -m 'it'"'"'s'` || strings.Contains(Quoted([]string{"a", "*"}), "'") {
		t.Error(got)
	}
}
