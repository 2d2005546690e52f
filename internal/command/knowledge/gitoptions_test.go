package knowledge

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestOptionsOfGitWithValues checks that the options that take a value according to git are
// described so, and that a value is never read as an option. Git lists them for completion.
func TestOptionsOfGitWithValues(t *testing.T) {
	for _, sub := range []string{"commit", "push", "merge"} {
		out, err := exec.Command("git", sub, "--git-completion-helper-all").Output()
		if err != nil || !strings.Contains(string(out), "--") {
			t.Fatalf("git %s: %v, %q", sub, err, out)
		}
		known, _ := KnownProgram("git", sub)
		for word := range strings.FieldsSeq(string(out)) {
			name, valued := strings.CutSuffix(word, "=")
			if valued && !slices.ContainsFunc(known.Options, func(o ProgramOption) bool { return o.Name == name && o.Value }) {
				t.Errorf("git %s %s takes a value, which is not known", sub, name)
			}
		}
	}
}
