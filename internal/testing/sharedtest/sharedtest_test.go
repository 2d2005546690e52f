package sharedtest

import "testing"

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`a\nb`: "a\nb", `\t\r\\`: "\t\r\\", `\u00e9x`: "éx", `\uzz`: `\uzz`, `\u1`: `\u1`, `a\`: `a\`, `\;`: ";",
	} {
		if got := Unescape(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestCorpora(t *testing.T) {
	for _, name := range []string{"tricky.tsv", "dippy-half.tsv"} {
		for _, line := range Corpus(t, name, 100) {
			if line.Command == "" || line.Class == "" {
				t.Errorf("%s: a line without a command or a class: %+v", name, line)
			}
		}
	}
}
