// Package paths compares paths with folders, follows links, and matches patterns. It does
// each in one way: two answers to "is this file in that folder" are a security hole.
//
// Paths have the separators of the platform or slashes. [Within] compares exactly, because
// permissions build on it. Rules that deny ignore case where [FoldsCase] is set, so that
// changing the case of a name does not bypass them.
package paths

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// FoldsCase reports whether the usual file systems of this platform ignore the case of
// names.
const FoldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// Within reports whether p is a folder or is below it. It returns false if either is "",
// which is an unknown path. "." and ".." are removed lexically; links must have been
// followed before.
func Within(folder, p string) bool {
	if folder == "" || p == "" {
		return false
	}
	folder, p = comparable(folder), comparable(p)
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// WithinAny reports whether p is one of the folders or is below one.
func WithinAny(folders []string, p string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return Within(folder, p) })
}

// Below reports whether p is below a folder and is not the folder itself.
func Below(folder, p string) bool {
	return Within(folder, p) && !Within(p, folder)
}

// comparable returns a clean path with slashes. On Windows, which ignores case everywhere,
// it is in lower case.
func comparable(p string) string {
	if runtime.GOOS == "windows" {
		p = strings.ToLower(filepath.ToSlash(p))
	}
	return path.Clean(p)
}
