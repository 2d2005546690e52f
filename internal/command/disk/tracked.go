package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/gitindex"
)

// maxTracked is the size in bytes up to which the index of git is read.
const maxTracked = 8 << 20

// PlainTracked reports whether git tracks only regular files in an absolute folder, with
// plain names: letters, digits and a few characters that no shell or program interprets.
// It returns false if that is unknown: the index may be split or sparse, and the working
// tree may be in another place. The environment must not select another repository.
func PlainTracked(folder string) bool {
	names, ok := tracked(folder)
	return ok && !slices.ContainsFunc(names, func(name string) bool { return !plainPath(name) })
}

// plainPath reports whether name is a relative path that stays in its folder and that no
// shell or program interprets.
func plainPath(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.Trim(part, ".") == "" || strings.EqualFold(part, ".git") || strings.Trim(part[:1], letters+".") != "" || strings.Trim(part, letters+".-+,@") != "" {
			return false
		}
	}
	return true
}

// openedTracked returns the files that git tracks in a folder, with the targets of
// links. unseen is why there may be more, or "".
func openedTracked(folder string) (files []string, unseen string) {
	names, ok := tracked(folder)
	if !ok {
		return nil, "the files that git tracks in " + folder + " are unknown"
	}
	folders := map[string]string{} // their real paths
	for _, name := range names {
		full := strings.TrimSuffix(folder, "/") + "/" + name
		files = append(files, full)
		dir := filepath.Dir(full)
		real, seen := folders[dir]
		if !seen {
			real, _ = filepath.EvalSymlinks(dir)
			folders[dir] = real
		}
		info, err := os.Lstat(full)
		if err == nil && (info.Mode()&os.ModeSymlink != 0 || real != dir) {
			if real, err = filepath.EvalSymlinks(full); err == nil {
				files = append(files, filepath.ToSlash(real))
				info, err = os.Stat(real)
			}
		}
		if err != nil && !os.IsNotExist(err) || err == nil && !info.Mode().IsRegular() {
			return files, "git tracks what is no file: " + full
		}
	}
	return files, ""
}

// tracked returns the names that git tracks in an absolute folder, relative to it, or
// false if they are unknown.
func tracked(folder string) (names []string, ok bool) {
	top := TopLevel(folder)
	real, err := filepath.EvalSymlinks(folder)
	if top == "" || err != nil || filepath.ToSlash(real) != folder || !isRepository(top+"/.git") {
		return nil, false
	}
	config, err := state.ReadLinked(top+"/.git/config", maxGitConfig)
	if err != nil || strings.Contains(strings.ToLower(string(config)), "include") {
		return nil, false
	}
	data, err := state.ReadLinked(top+"/.git/index", maxTracked)
	if err != nil {
		return nil, false
	}
	index := gitindex.Index{Data: data, Hash: 20}
	if strings.Contains(strings.ToLower(string(config)), "sha256") {
		index.Hash = 32
	}
	within := strings.TrimPrefix(folder+"/", strings.TrimSuffix(top, "/")+"/")
	found := index.Find(func(name string, mode uint32) bool {
		if rest, below := strings.CutPrefix(name, within); below {
			names = append(names, rest)
		}
		return mode == gitindex.Link || mode == gitindex.Folder || len(names) > maxOpened
	})
	return names, found == gitindex.Found{}
}

// isRepository reports whether git accepts a folder as a repository. If it does not, git
// searches further up.
func isRepository(git string) bool {
	head, err := state.ReadLinked(git+"/HEAD", 4096)
	text := strings.TrimSpace(string(head))
	return err == nil && (strings.HasPrefix(text, "ref: refs/") || len(text) >= 40 && strings.Trim(text, "0123456789abcdef") == "") && IsDir(git+"/objects") && IsDir(git+"/refs")
}
