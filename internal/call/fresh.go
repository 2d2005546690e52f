package call

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/knowledge/files"
	"cardea.dev/internal/paths"
)

// IsNew reports whether nothing exists under a path, not even a dangling link.
func IsNew(p string) bool {
	_, err := os.Lstat(p)
	return os.IsNotExist(err)
}

// IsDir reports whether a path is a folder, or a link to one.
func IsDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// maxNames is how many names of a folder are looked at.
const maxNames = 4096

// Names are the names in a folder, false where there are more than can be looked
// at, or where it cannot be read.
func Names(folder string) ([]string, bool) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	names, err := f.Readdirnames(maxNames + 1)
	if err != nil || len(names) > maxNames {
		return nil, false
	}
	slices.Sort(names)
	return names, true
}

// TopLevel is the root of the git repository around an absolute folder, "" where
// there is none or its configuration may move the working tree.
func TopLevel(dir string) string {
	for dir = filepath.Clean(dir); filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err != nil && dir != filepath.Dir(dir) {
			continue
		}
		if err != nil || !info.IsDir() {
			return ""
		}
		config, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
		if err != nil || strings.Contains(strings.ToLower(string(config)), "worktree") {
			return ""
		}
		return dir
	}
	return ""
}

// fresh reports whether output to a file needs no yes of its own: the file is new
// in the project, or temporary, and its name makes nothing execute it or read it
// as configuration (docs/design.md#shell-analysis).
func (a *analysis) fresh(file string) bool {
	if a.world.New == nil || !files.IsPlainOutput(file) {
		return false
	}
	if a.outputRoots == nil {
		a.outputRoots = append(a.roots(), a.temporary()...)
	}
	return slices.ContainsFunc(a.outputRoots, func(root string) bool {
		return paths.Below(root, file) && !strings.Contains(file[len(strings.TrimSuffix(root, "/")):], "/.") && a.world.New(file)
	})
}

// temporary are the folders for files that nobody keeps.
func (a *analysis) temporary() []string {
	var out []string
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		if at := a.resolve(dir); at != "" {
			out = append(out, at)
		}
	}
	return out
}
