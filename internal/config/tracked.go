package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/gitindex"
)

// maxTracked bounds the index of git that is looked through, in bytes. That of a
// repository of a million files is smaller.
const maxTracked = 256 << 20

// Tracked reports whether git tracks a file, so that it came with the
// repository: a file called "local" that a clone brought is not the person's
// own. What cannot be read may be tracked.
func Tracked(path string) bool {
	root, dir := repository(filepath.Dir(path))
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return true
	}
	shared, _ := filepath.Glob(filepath.Join(dir, "sharedindex.*"))
	for _, index := range append(shared, filepath.Join(dir, "index")) {
		data, err := readIndex(index)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || lists(data, filepath.ToSlash(rel)) {
			return true
		}
	}
	return false
}

// repository is the root of the working tree around a folder, and the folder
// that holds its index.
func repository(dir string) (root, git string) {
	for ; ; dir = filepath.Dir(dir) {
		git = filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && info.IsDir():
			return dir, git
		case err == nil && info.Mode().IsRegular():
			text, err := os.ReadFile(git)
			at, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if err != nil || !ok {
				return "", ""
			}
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			return dir, at
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// lists reports whether an index has an entry of a name, whichever way objects
// are named there. One that cannot be read may have it; what a split index
// keeps elsewhere is looked through by itself.
func lists(data []byte, name string) bool {
	for _, hash := range []int{20, 32} {
		f := gitindex.Index{Data: data, Hash: hash}.Find(func(n string, _ uint32) bool { return n == name })
		if !f.Broken {
			return f.Such
		}
	}
	return true
}

func readIndex(path string) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTracked+1))
	if err == nil && len(data) > maxTracked {
		err = errors.New("it is too large")
	}
	return data, err
}
