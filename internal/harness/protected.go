package harness

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/files"
)

// ProtectedPath reports whether Claude Code always asks before it writes to a path. It ignores
// case, as two of three platforms do. Files in .claude/worktrees are not protected merely because
// of that folder.
func ProtectedPath(p string) bool {
	elems := elements(p)
	for i := 0; i+2 < len(elems); i++ {
		if elems[i] == ".claude" && elems[i+1] == "worktrees" {
			elems = slices.Delete(elems, i, i+1)
		}
	}
	return files.Protected("/" + strings.Join(elems, "/"))
}

// elements splits a path of any platform into its lower-case elements.
func elements(p string) []string {
	p = path.Clean(strings.ReplaceAll(strings.ToLower(p), `\`, "/"))
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// TouchesProtected reports whether an access may write or delete a protected path. An unknown path
// may be protected.
func TouchesProtected(a cardea.Access) bool {
	if a.Kind != cardea.Write && a.Kind != cardea.Delete {
		return false
	}
	return a.Path == "" || ProtectedPath(a.Path) || a.Spelled != "" && ProtectedPath(a.Spelled) || a.Glob && globMayProtect(a.Pattern)
}

// globMayProtect reports whether a pattern may match a protected path. If in doubt it returns true,
// which costs only a question.
func globMayProtect(pattern string) bool {
	elems := elements(pattern)
	return pattern == "" || len(elems) == 0 || strings.ContainsAny(pattern, "({") ||
		slices.ContainsFunc(elems, func(e string) bool { return e == "**" || files.MayBeProtected(e) })
}
