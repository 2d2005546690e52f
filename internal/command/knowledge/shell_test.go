package knowledge

import (
	"strings"
	"testing"

	"cardea.dev"
)

// TestReadShell checks that each shell reads its words as ReadShell does. Tried with
// bash 5.2, dash 0.5, zsh 5.9, ksh93, busybox 1.36 and fish 3: what they print for "echo
// input" on their standard input.
func TestReadShell(t *testing.T) {
	for line, want := range map[string]string{
		"bash": "input", "bash -euo pipefail": "input", "bash -euo pipefail x.sh": "script x.sh", "bash -o pipefail -e": "input",
		"bash +o posix": "input", "bash -eO extglob x": "script x", "bash -oe pipefail x": "script x", "bash -s -- a": "input", "bash -es a": "input",
		"bash - a": "script a", "bash -e -": "input", "bash -- a": "script a", "bash -ec ls a": "code ls", "bash -c -e ls": "code ls",
		"bash +c ls": "code ls", "bash -norc": "input", "bash -rcfile x -c ls": "code ls", "bash --rcfile x -c ls": "code ls", "bash --posix": "input",
		"bash -c": "code", "bash -sc ls": "code and input", "bash x -c ls": "script x", "/bin/bash -eu": "input", "sh -xe": "input",
		"dash -eo noglob x": "script x", "dash -norc ls": "code",
		"zsh -eo pipefail": "input", "zsh -oerrexit x": "script x", "zsh --emulate sh": "input", "zsh --no-rcs x": "script x", "zsh -f": "input",
		"ksh -oerrexit": "input", "ksh -eo pipefail x": "script x", "mksh -T - x": "script x",
		"fish": "input", "fish -c ls": "code", "fish -cls": "code", "fish --command=ls": "code", "fish -d 0": "input", "fish -N x": "script x", "fish -C ls": "input",
		"python3 -c x": "no shell", "tcsh -c x": "no shell",
	} {
		var words []cardea.Word
		for word := range strings.FieldsSeq(line) {
			words = append(words, cardea.Word{Text: word, Static: true})
		}
		got, ok := ReadShell(words)
		said := "input"
		switch {
		case !ok:
			said = "no shell"
		case got.Commands && got.ReadsInput():
			said = "code and input"
		case got.Script > 0:
			said = "script " + words[got.Script].Text
		case got.Commands && got.Rest < len(words):
			said = "code " + words[got.Rest].Text
		case !got.ReadsInput():
			said = "code"
		}
		if said != want {
			t.Errorf("%s: %s, want %s", line, said, want)
		}
	}
	if got, _ := ReadShell([]cardea.Word{{Text: "bash", Static: true}, {Text: "$x"}}); got.Script != 1 {
		t.Errorf("%+v", got)
	}
}
