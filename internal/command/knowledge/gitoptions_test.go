package knowledge

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The options of which git says that they take a value are known to take one, so
// that a value is never taken for an option. Git lists them for completion.
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
