// Package disk answers what the analysis asks of the machine: which folders exist,
// what is in them, and where links lead.
package disk

import (
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/knowledge"
)

// World is this machine at one moment, for a person with a home folder: it remembers
// where links lead, so each look at a call takes a new one.
func World(home string) knowledge.World {
	return knowledge.World{Home: home, Resolve: new(paths.Links).Resolve, LinkText: LinkText, IsDir: IsDir, IsNew: IsNew, TopLevel: TopLevel, PlainNames: PlainNames, PlainTracked: PlainTracked, Names: Names, Members: Members, Differs: Differs, Opened: Opened, Shown: Shown, HoldsKey: HoldsKey, ReadFile: state.ReadLinked}
}

// LinkText is what the symbolic link at a path says, "" where there is none.
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

// maxNames is how many names of a folder are looked at.
const maxNames = 4096

// Names are the names in a folder, false where there are more than can be looked
// at, or where it cannot be read.
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

// maxGitConfig bounds a repository's configuration, in bytes.
const maxGitConfig = 1 << 20

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
		config, err := state.ReadLinked(filepath.Join(dir, ".git", "config"), maxGitConfig)
		if err != nil || strings.Contains(strings.ToLower(string(config)), "worktree") {
			return ""
		}
		return dir
	}
	return ""
}
