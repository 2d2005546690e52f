package dialect

import (
	"strings"

	"cardea.dev/internal/harness"
)

// patchIn is the patch of a shell command that does nothing but apply one, as an input
// of apply_patch. Codex CLI sends every patch so:
//
//	apply_patch <<'EOF'
//	*** Begin Patch
//	…
//	EOF
//
// Only the form whose text bash does not change is taken apart. All else stays a
// command, of a program that nobody knows.
func patchIn(tool string, input any) (*harness.Object, bool) {
	in, ok := input.(*harness.Object)
	if !ok || tool != "Bash" || len(in.Entries()) != 1 || in.Entries()[0].Key != "command" {
		return nil, false
	}
	command, _ := in.Entries()[0].Value.(string)
	line, rest, found := strings.Cut(command, "\n")
	mark, quoted := strings.CutPrefix(line, "apply_patch <<'")
	mark, closed := strings.CutSuffix(mark, "'")
	if !found || !quoted || !closed || mark == "" || strings.ContainsAny(mark, "' \t\r") {
		return nil, false
	}
	body, tail, ended := strings.Cut("\n"+rest+"\n", "\n"+mark+"\n")
	if !ended || strings.TrimSpace(tail) != "" || !strings.HasPrefix(strings.TrimSpace(body), "*** Begin Patch") {
		return nil, false
	}
	return harness.ObjectOf("input", strings.TrimPrefix(body, "\n")), true
}
