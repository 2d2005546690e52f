//go:build unix

package knowledge

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
)

// sameInBash are the names that zsh calls special and that have the same meaning in
// bash, or that name no variable in bash.
var sameInBash = strings.Fields("! # $ * - 0 ? @ _ LANG LINENO HISTCMD OPTARG OPTIND PPID RANDOM SECONDS TERM UID EUID ZSH_SUBSHELL")

// TestSpecialInZsh checks that every name that zsh calls special is dangerous to set,
// unless it has the same meaning in bash.
func TestSpecialInZsh(t *testing.T) {
	list := `for module in parameter terminfo termcap zleparameter sched watch zutil; do zmodload zsh/$module 2>/dev/null; done
for name in ${(k)parameters}; do [[ ${parameters[$name]} != *special* ]] || print -r -- $name; done`
	out, err := exec.Command("zsh", "-f", "-c", list).Output()
	if err != nil {
		t.Fatalf("the tests need zsh as an oracle: %v", err)
	}
	names := strings.Fields(string(out))
	if len(names) < 100 {
		t.Fatalf("zsh lists %d names: %q", len(names), names)
	}
	for _, name := range names {
		if AssignmentClass(name, "", false) != cardea.EnvDangerous && !slices.Contains(sameInBash, name) {
			t.Errorf("%s is special in zsh, and may be set", name)
		}
	}
	for _, name := range []string{"COLUMNS", "LINES"} { // a value that is not a number is evaluated
		if AssignmentClass(name, "120", true) != cardea.EnvSafe || AssignmentClass(name, "a[$(x)]", true) != cardea.EnvDangerous {
			t.Errorf("%s is dangerous with a number, or harmless with another text", name)
		}
	}
}
