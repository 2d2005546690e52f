// Package paths compares paths with folders, follows links, and matches
// patterns. It does each in one way, since two answers to "does this file lie
// in that folder" are a hole.
//
// Paths come with the separators of the platform or with slashes. [Within]
// compares exactly, because allowances build on it. What forbids compares without
// regard to case where [FoldsCase] is set, so that another case of a name is no way
// around it.
package paths

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// FoldsCase tells whether the usual file systems of this platform take names
// that differ in case for the same.
const FoldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// Within reports whether a path is a folder or lies below it. Neither may be
// "", which is a path that is not known. "." and ".." are removed as they are
// written; links must have been followed before.
func Within(folder, p string) bool {
	if folder == "" || p == "" {
		return false
	}
	folder, p = comparable(folder), comparable(p)
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// WithinAny reports whether a path is one of the folders or lies below one.
func WithinAny(folders []string, p string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return Within(folder, p) })
}

// Below reports whether a path lies below a folder and is not the folder.
func Below(folder, p string) bool {
	return Within(folder, p) && !Within(p, folder)
}

// comparable is a clean path with slashes. Windows compares names without
// regard to case everywhere.
func comparable(p string) string {
	if runtime.GOOS == "windows" {
		p = strings.ToLower(filepath.ToSlash(p))
	}
	return path.Clean(p)
}
