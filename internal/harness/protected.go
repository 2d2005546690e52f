package harness

import (
	"path"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/paths"
)

// protectedDirs and protectedFiles are the paths whose writing Claude Code
// never approves by itself (permission-modes, "Protected paths"). They hold
// code that something else runs, or settings that decide what is run.
var (
	protectedDirs = [...]string{".git", ".config/git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer",
		".yarn", ".mvn", ".claude"}
	protectedFiles = [...]string{".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".bash_login",
		".bash_aliases", ".bash_logout", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".profile",
		".envrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnp.loader.mjs", ".pnpmfile.cjs",
		"bunfig.toml", ".bunfig.toml", ".bazelrc", ".bazelversion", ".bazeliskrc", ".pre-commit-config.yaml",
		"lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", "gradle-wrapper.properties",
		"maven-wrapper.properties", ".devcontainer.json", ".ripgreprc", "pyrightconfig.json", ".mcp.json",
		".claude.json"}
)

// ProtectedPath reports whether Claude Code always asks before it writes to a
// path. Case does not count, since it does not on two of three platforms. The
// work in .claude/worktrees is not protected for lying there.
func ProtectedPath(p string) bool {
	elems := elements(p)
	for i, e := range elems {
		if e == ".claude" && i+2 < len(elems) && elems[i+1] == "worktrees" {
			continue
		}
		for _, d := range protectedDirs {
			parent, name := path.Split(d)
			if e == name && (parent == "" || i > 0 && elems[i-1]+"/" == parent) {
				return true
			}
		}
	}
	if len(elems) == 0 {
		return false
	}
	for _, f := range protectedFiles {
		if elems[len(elems)-1] == f {
			return true
		}
	}
	return false
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
	if a.Path == "" || ProtectedPath(a.Path) || a.Spelled != "" && ProtectedPath(a.Spelled) {
		return true
	}
	return a.Glob && globMayProtect(a.Pattern)
}

// globMayProtect reports whether a pattern may match a protected path. It
// errs on the side of yes: what it costs is a question.
func globMayProtect(pattern string) bool {
	elems := elements(pattern)
	if pattern == "" || len(elems) == 0 || strings.ContainsAny(pattern, "({") {
		return true
	}
	for _, e := range elems {
		if e == "**" {
			return true
		}
		for _, name := range protectedFiles {
			if paths.MayBeNamed(e, name) {
				return true
			}
		}
		for _, d := range protectedDirs {
			if paths.MayBeNamed(e, path.Base(d)) {
				return true
			}
		}
	}
	return false
}
