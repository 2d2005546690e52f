//go:build unix

package knowledge

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/testing/testrun"
)

// TestShellsReadTheirWordsSo checks that shells run what ReadShell returns: their
// standard input, a script or the text of -c. Words that a shell refuses are skipped. So
// are shells that the machine lacks, except bash, sh and zsh.
func TestShellsReadTheirWordsSo(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x", "pipefail", "errexit", "sh", "extglob", "0"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("echo SCRIPT\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	options := map[string]string{
		"bash": "-e -u -x -eu -euo pipefail|-eo pipefail|-o pipefail|+o posix|-O extglob|+O extglob|-eO extglob|-oe " +
			"errexit|-s|-es|-c|-ec|+c|-uec|--norc|-norc|--posix|-posix|--rcfile x|-rcfile x|--noprofile|-p|-f|-l|--|-|-oo errexit pipefail",
		"sh":   "-e|-u|-eu|-o errexit|-eo errexit|+o errexit|-s|-es|-c|-ec|-x|--|-|-f|+e",
		"zsh":  "-e|-u|-eu|-euo pipefail|-o pipefail|-oerrexit|-eo errexit|+o errexit|-s|-es|-c|-ec|--emulate sh|--no-rcs|-f|+x|--|-",
		"ksh":  "-e|-u|-eu|-o errexit|-oerrexit|-eo errexit|+o errexit|-s|-c|-ec|--|-|-f",
		"fish": "-N|--no-config|-c|-d 0|-d0|--debug 0|-C true|--init-command true|-P|--",
	}
	r := rand.New(rand.NewPCG(3, 4))
	counts := map[string]int{}
	for i := range testrun.Pick(150, 20_000) {
		shell := []string{"bash", "sh", "zsh", "ksh", "bash", "zsh", "sh", "bash", "busybox", "fish"}[i%10]
		vocabulary := strings.Split(options[shell], "|")
		program := []string{shell}
		if shell == "busybox" {
			program, vocabulary = []string{"busybox", "ash"}, strings.Split(options["sh"], "|")
		}
		if _, err := exec.LookPath(shell); err != nil {
			if shell == "bash" || shell == "zsh" || shell == "sh" {
				t.Fatalf("the tests need %s as an oracle: install it", shell)
			}
			continue
		}
		words := program
		for range r.IntN(4) {
			words = append(words, strings.Fields(vocabulary[r.IntN(len(vocabulary))])...)
		}
		words = append(words, [][]string{nil, {"echo CODE"}, {"x"}, {"x", "y"}}[r.IntN(4)]...)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader("echo INPUT\n"), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		out, _ := cmd.Output() // an error: words that it refuses
		said := ""
		for _, what := range []string{"INPUT", "SCRIPT", "CODE"} {
			if strings.TrimSpace(string(out)) == what {
				said = what
			}
		}
		var list []cardea.Word
		for _, word := range words[len(program)-1:] {
			list = append(list, cardea.Word{Text: word, Static: true})
		}
		line, ok := ReadShell(list)
		got := "INPUT"
		switch {
		case line.Commands:
			got = "CODE"
		case line.Script > 0:
			got = "SCRIPT"
		}
		if line.Commands && said == "INPUT" && line.ReadsInput() {
			got = said // dash runs both
		}
		if shell == "ksh" && said == "CODE" && line.Script > 0 {
			got = said // it reads a word that names no file as commands
		}
		if said != "" && (!ok || got != said) {
			t.Errorf("%q runs %s, and is read as %s: %+v", words, said, got, line)
		}
		counts[said]++
	}
	t.Log(counts)
	if counts["INPUT"] == 0 || counts["SCRIPT"] == 0 || counts["CODE"] == 0 {
		t.Error(counts)
	}
}
