package harness

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/files"
)

// ProtectedPath reports whether Claude Code always asks before it writes to a
// path. Case does not count, since it does not on two of three platforms. The
// work in .claude/worktrees is not protected for lying there.
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

// TouchesProtected reports whether an access may write to a protected path or
// delete one. A path that is not known may be one.
func TouchesProtected(a cardea.Access) bool {
	if a.Kind != cardea.Write && a.Kind != cardea.Delete {
		return false
	}
	return a.Path == "" || ProtectedPath(a.Path) || a.Spelled != "" && ProtectedPath(a.Spelled) || a.Glob && globMayProtect(a.Pattern)
}

// globMayProtect reports whether a pattern may match a protected path. It
// errs on the side of yes: what it costs is a question.
func globMayProtect(pattern string) bool {
	elems := elements(pattern)
	return pattern == "" || len(elems) == 0 || strings.ContainsAny(pattern, "({") ||
		slices.ContainsFunc(elems, func(e string) bool { return e == "**" || files.MayBeProtected(e) })
}
