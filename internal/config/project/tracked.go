package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/gitindex"
)

// maxTracked is the maximum size of a git index in bytes. The index of a repository with a
// million files is smaller.
const maxTracked = 256 << 20

// Tracked reports whether git tracks a file, so that it came with the repository: a file
// called "local" in a clone is not the user's own. If the index cannot be read, it returns
// true.
func Tracked(path string) bool {
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return true
	}
	other := filepath.Join(real, filepath.Base(path))
	if file, err := filepath.EvalSymlinks(path); err == nil && file != other {
		return true // the file itself is a link
	}
	return tracked(path) || other != filepath.Clean(path) && tracked(other)
}

// tracked is Tracked for one name of the file.
func tracked(path string) bool {
	from := filepath.Dir(path)
	if strings.HasPrefix(filepath.Base(from), ".") {
		from = filepath.Dir(from) // the harness's folder is never treated as a repository
	}
	root, dir := repository(from)
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return true
	}
	entries, err := state.Entries(dir, MaxEntries)
	if err != nil {
		return true
	}
	for _, e := range entries {
		if name := e.Name(); name != "index" && !strings.HasPrefix(name, "sharedindex.") {
			continue
		}
		data, err := state.ReadLinked(filepath.Join(dir, e.Name()), maxTracked)
		if err != nil || lists(data, filepath.ToSlash(rel)) {
			return true
		}
	}
	return false
}

// repository returns the root of the working tree around a folder, and the folder of its
// index. It follows links as git does.
func repository(dir string) (root, git string) {
	for ; ; dir = filepath.Dir(dir) {
		git = filepath.Join(dir, ".git")
		info, err := os.Stat(git)
		switch {
		case err == nil && info.IsDir():
			return dir, git
		case err == nil && info.Mode().IsRegular() && info.Size() < maxLink:
			text, err := state.ReadLinked(git, maxLink)
			at, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if err != nil || !ok {
				return dir, git // git cannot read it either; unknown
			}
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			return dir, at
		case !errors.Is(err, fs.ErrNotExist):
			return dir, git
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// maxLink is the maximum size in bytes of a .git file that names a repository.
const maxLink = 64 << 10

// lists reports whether an index has an entry of a name, for either hash size. For an
// unreadable index, it returns true. The shared part of a split index is a separate file.
func lists(data []byte, name string) bool {
	for _, hash := range []int{20, 32} {
		f := gitindex.Index{Data: data, Hash: hash}.Find(func(n string, _ uint32) bool { return strings.EqualFold(n, name) })
		if !f.Broken {
			return f.Such
		}
	}
	return true
}
