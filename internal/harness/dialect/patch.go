package dialect

import (
	"strings"

	"cardea.dev/internal/harness"
)

// patchIn returns the patch of a shell command that only applies one, as an input of apply_patch.
// Codex CLI sends every patch in this form:
//
//	apply_patch <<'EOF'
//	*** Begin Patch
//	…
//	EOF
//
// It only accepts a form whose text bash does not change. Any other command stays a command of an
// unknown program.
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
