package policy

import "testing"

func TestOneSpace(t *testing.T) {
	for command, want := range map[string]string{
		"  rm   -rf\t/ \n":    "rm -rf /",
		"a\n\nb":              "a b",
		`echo "a  b"  'c  d'`: `echo "a  b" 'c  d'`,
		`a\  b`:               `a\  b`,
		`a \' b  c`:           `a \' b c`,
		`'a\'  b`:             `'a\' b`,
		`"a\"  b"  c`:         `"a\"  b" c`,
		"a\u00a0\u2003b":      "a b",
		"'never  closed":      "'never  closed",
		"":                    "",
	} {
		if got := oneSpace(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
