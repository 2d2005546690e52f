package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/gitindex"
)

// maxTracked bounds the index of git that is looked through, in bytes.
const maxTracked = 8 << 20

// PlainTracked reports whether git tracks regular files alone in an absolute folder, each under
// names of letters, digits and a few signs that no shell and no program takes for more than a
// name. It reports false where that is not known: the index may be split or sparse, and the
// working tree may lie elsewhere. No variable tells git of another repository.
func PlainTracked(folder string) bool {
	names, ok := tracked(folder)
	return ok && !slices.ContainsFunc(names, func(name string) bool { return !plainPath(name) })
}

// plainPath reports a relative path that neither leaves its folder nor is anything else to a
// shell or a program.
func plainPath(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.Trim(part, ".") == "" || strings.EqualFold(part, ".git") || strings.Trim(part[:1], letters+".") != "" || strings.Trim(part, letters+".-+,@") != "" {
			return false
		}
	}
	return true
}

// openedTracked are the files that git tracks in a folder, with where links lead.
func openedTracked(folder string) (files []string, unseen string) {
	names, ok := tracked(folder)
	if !ok {
		return nil, "the files that git tracks in " + folder + " are unknown"
	}
	folders := map[string]string{} // where they really lie
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

// tracked are the names that git tracks in an absolute folder, from there on; false where they are
// not known.
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

// isRepository reports whether git takes a folder for a repository. Where it does not, git looks
// further up.
func isRepository(git string) bool {
	head, err := state.ReadLinked(git+"/HEAD", 4096)
	text := strings.TrimSpace(string(head))
	return err == nil && (strings.HasPrefix(text, "ref: refs/") || len(text) >= 40 && strings.Trim(text, "0123456789abcdef") == "") && IsDir(git+"/objects") && IsDir(git+"/refs")
}
