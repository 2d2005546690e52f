// Package disk implements the queries of the analysis to the machine: which folders
// exist, what is in them, and where links lead.
package disk

import (
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/knowledge"
)

// System returns the functions that query this machine, for a user with a home folder.
// It caches the targets of links, so each analysis of a call needs a new one.
func System(home string) knowledge.System {
	return knowledge.System{Home: home, Resolve: new(paths.Links).Resolve, LinkText: LinkText, IsDir: IsDir, IsNew: IsNew, TopLevel: TopLevel, PlainNames: PlainNames, PlainTracked: PlainTracked, Names: Names, Members: Members, Differs: Differs, Opened: Opened, Shown: Shown, HoldsKey: HoldsKey, ReadFile: state.ReadLinked}
}

// LinkText returns the text of the symlink at a path, or "" if there is no symlink.
func LinkText(p string) string {
	text, _ := os.Readlink(p)
	return filepath.ToSlash(text)
}

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

// maxNames is the number of names of a folder that are read.
const maxNames = 4096

// Names returns the names in a folder, or false if there are too many or the folder
// cannot be read.
func Names(folder string) ([]string, bool) {
	entries, err := state.Entries(folder, maxNames+1)
	if err != nil || len(entries) > maxNames {
		return nil, false
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, true
}

// maxGitConfig is the size in bytes up to which a repository's configuration is read.
const maxGitConfig = 1 << 20

// TopLevel returns the root of the git repository that contains an absolute folder. It returns
// "" outside of a repository, and if the configuration may move the working tree.
func TopLevel(dir string) string {
	for dir = filepath.Clean(dir); filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err != nil && dir != filepath.Dir(dir) {
			continue
		}
		if err != nil || !info.IsDir() {
			return ""
		}
		config, err := state.ReadLinked(filepath.Join(dir, ".git", "config"), maxGitConfig)
		if err != nil || strings.Contains(strings.ToLower(string(config)), "worktree") {
			return ""
		}
		return dir
	}
	return ""
}
