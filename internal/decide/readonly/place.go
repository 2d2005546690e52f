package readonly

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge/files"
)

// trees returns the folders of the work in which reading is free.
func (c *evaluation) trees() []string {
	c.findThem.Do(func() {
		all := slices.Concat([]string{c.ev.Project}, c.ev.Roots, c.about.Trees)
		for i, t := range all {
			if t == "" || slices.Contains(all[:i], t) {
				continue
			}
			real, err := filepath.EvalSymlinks(t)
			if err != nil {
				continue
			}
			real = filepath.ToSlash(real)
			// Neither the home folder nor a folder that contains it is a working tree.
			if real == "/" || c.about.Home != "" && paths.Within(real, filepath.ToSlash(c.about.Home)) {
				continue
			}
			c.found = append(c.found, real)
		}
	})
	return c.found
}

// free reports whether a path is in the work or in a temporary folder. A file in the home
// folder is never temporary.
func (c *evaluation) free(p string) bool {
	if paths.WithinAny(c.trees(), p) {
		return true
	}
	return paths.WithinAny(c.about.Temp, p) && (c.about.Home == "" || !paths.Within(filepath.ToSlash(c.about.Home), p))
}

// reading returns the reason why a read is not free, or "".
func (c *evaluation) reading(a *cardea.Access) string {
	if a.Path == "" {
		return "it is not known what it reads"
	}
	if a.MetadataOnly {
		return c.listing(a)
	}
	for _, p := range []string{a.Path, a.Spelled, a.Pattern} {
		if p != "" && files.MayHoldSecret(p) {
			return "it may read a secret: " + path.Base(p)
		}
		if p != "" && c.unreadable(p) {
			return "the harness's own list says something about " + path.Base(p)
		}
	}
	switch {
	case c.free(a.Path):
	case systemFolder(a.Path):
		if a.Recursive || a.Glob {
			return "it reads more of the system than one file"
		}
		return c.system(a.Path)
	default:
		return "it reads outside of the working tree: " + a.Path
	}
	if a.Recursive || a.Glob {
		return c.below(a)
	}
	return ""
}

// listing returns the reason why names and attributes are not free to read, or "". They are
// no secrets, and walking through a private folder opens no file in it (docs/decisions/secrets.md).
// Windows asks another machine for //name/share.
func (c *evaluation) listing(a *cardea.Access) string {
	if c.free(a.Path) || systemFolder(a.Path) && !paths.Within("/proc", a.Path) {
		return ""
	}
	for _, p := range []string{a.Path, a.Spelled, a.Pattern} {
		switch {
		case p != "" && (files.MayHoldSecret(p) || hidesNames(p)):
			return "it lists what may be private: " + path.Base(p)
		case p != "" && c.unreadable(p):
			return "the harness's own list says something about " + path.Base(p)
		case p != "" && runtime.GOOS == "windows" || slices.ContainsFunc(files.Mounted(), func(d string) bool { return paths.Within(d, p) }):
			return "to look at " + p + " may contact another machine"
		}
	}
	return ""
}

// hidesNames reports whether a pattern may match hidden files or folders by their dot.
func hidesNames(pattern string) bool {
	return slices.ContainsFunc(strings.Split(pattern, "/"), func(name string) bool {
		return strings.ContainsAny(name, "*?[") && strings.HasPrefix(name, ".")
	})
}

// unreadable reports whether a pattern of the harness's own lists may apply to a path: a
// name in the path matches the last name of the pattern.
func (c *evaluation) unreadable(p string) bool {
	for _, pattern := range c.ev.Unreadable {
		last := ""
		for _, name := range strings.Split(pattern, "/") {
			if strings.Trim(name, "*") != "" && name != "." && name != "~" {
				last = name
			}
		}
		if last == "" {
			return true
		}
		if !paths.WellFormed(last) || slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool { return paths.MatchName(last, name) }) {
			return true
		}
	}
	return false
}

// systemFolder reports whether a path is in a folder of the system.
func systemFolder(p string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	return slices.ContainsFunc(files.System(), func(d string) bool { return paths.Within(d, p) })
}

// nothing reports whether a system path does not exist, and no command of the call can
// create it.
func (c *evaluation) nothing(p string) bool {
	if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) || c.about.Guarded == nil || c.unclear(nil) {
		return false // p exists, if only as a broken link, or may come to exist
	}
	at := path.Dir(p)
	for ; at != path.Dir(at); at = path.Dir(at) {
		if info, err := os.Lstat(at); err == nil {
			return info.IsDir() && c.about.Guarded(at) == ""
		}
	}
	return false
}

// system returns the reason why a file of the system is not free to read, or "". It must be
// readable by all users, and must not show the memory, environment or files of a process.
func (c *evaluation) system(p string) string {
	if paths.Within("/proc", p) && !files.ShowsMachine(p) {
		return "it may show the inside of a process"
	}
	info, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) && c.nothing(p) {
		return ""
	}
	if err != nil {
		return "what it reads cannot be looked at"
	}
	if info.Mode().Perm()&0o004 == 0 {
		return "not everybody may read " + p
	}
	return ""
}

// beyond returns the reason why a covered access to a folder, or a read by pattern, reaches
// more than the covering entry names, or "".
func (c *evaluation) beyond(a *cardea.Access) string {
	if a.Kind == cardea.Write && a.Recursive {
		if info, err := os.Lstat(a.Path); err == nil && info.IsDir() {
			return "it writes into a folder that is there already, where a link may lead elsewhere"
		}
		return ""
	}
	if a.Kind != cardea.Read || a.MetadataOnly || !a.Recursive && !a.Glob {
		return ""
	}
	return c.below(a)
}

// below returns the reason why a recursive read or a pattern reaches files that are not
// free, or "". Such a file is a secret, or the target of a link that leaves the work and
// what is covered.
func (c *evaluation) below(a *cardea.Access) string {
	if a.Glob && paths.MayLeadUp(a.Pattern) {
		return "its pattern may lead to the folder above"
	}
	opened, unseen := disk.Opened(a)
	for _, file := range opened {
		if strings.HasSuffix(file, "/.git/config") {
			if c.tokens(file) {
				return "it may read a secret: .git/config"
			}
			continue
		}
		for name := file; name != a.Path && name != "/" && name != "."; name = path.Dir(name) {
			switch {
			case files.MayHoldSecret(name):
				return "it may read a secret: " + path.Base(name)
			case c.unreadable(name):
				return "the harness's own list says something about " + path.Base(name)
			}
		}
		if !paths.Within(a.Path, file) && !c.free(file) && (c.covered == nil || !c.covered(&cardea.Access{Kind: cardea.Read, Path: file})) {
			return "a link leads out of what may be read: " + file
		}
	}
	return unseen
}

// tokens reports whether a git configuration may contain a password or token. The objects
// of git are packed, so reading the files does not show their contents.
func (c *evaluation) tokens(name string) bool {
	if _, err := os.Lstat(name); err != nil {
		return false
	}
	data, err := state.ReadLinked(name, 256<<10)
	text := strings.ToLower(string(data))
	return err != nil || strings.Contains(text, "extraheader") || strings.Contains(text, "token") || strings.Contains(text, "password") || strings.Contains(text, "@") && strings.Contains(text, "://")
}

// configuring returns the reason why a program with this name of configuration file is not
// trusted in a folder, or "". The agent, or a clone, may have written such a file. Outside
// of the work, anyone may have.
func (c *evaluation) configuring(dir, name string) string {
	if dir == "" || !paths.WithinAny(c.trees(), dir) {
		return "it may be configured where it runs"
	}
	if at := c.above(dir, name); at != "" {
		return "the project configures it: " + at
	}
	return ""
}

// above returns the first file with a name in a folder or the folders above it within the
// work, or "".
func (c *evaluation) above(dir, name string) string {
	for at := dir; paths.WithinAny(c.trees(), at); at = path.Dir(at) {
		if _, err := os.Lstat(path.Join(at, name)); !errors.Is(err, fs.ErrNotExist) {
			return path.Join(at, name)
		}
		if at == path.Dir(at) {
			break
		}
	}
	return ""
}

// environment returns the reason why variables from outside of the line may be secrets, or
// "". A file of the project may set variables of any name.
func (c *evaluation) environment(dir string) string {
	for _, name := range files.SetEnvironment() {
		for _, tree := range slices.Concat(c.trees(), []string{dir}) {
			file := c.above(tree, name)
			if file == "" {
				continue
			}
			if data, err := state.ReadLinked(file, 256<<10); err != nil || path.Ext(name) != ".json" || strings.Contains(strings.ToLower(string(data)), "env") {
				return "the line shows a variable, which " + file + " may set"
			}
		}
	}
	return ""
}

// ownedBySystem returns the reason why users other than the system may change files of
// conda's folder, or "".
func (c *evaluation) ownedBySystem(folder string) string {
	for _, file := range []string{".", "bin", "bin/activate", "bin/conda", "bin/python", "lib", "etc/profile.d", "etc/profile.d/conda.sh"} {
		if at := path.Join(folder, file); c.about.Guarded == nil || c.about.Guarded(at) != "" {
			return "others than the system may change " + at
		}
	}
	return ""
}

// planted returns the reason why a bare name may start a program of the agent, or "".
func (c *evaluation) planted(name string) string {
	for _, dir := range filepath.SplitList(c.about.Path) {
		if !filepath.IsAbs(dir) {
			return "PATH holds a folder that depends on where it runs"
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() {
			continue
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir
		}
		real = filepath.ToSlash(real)
		if paths.WithinAny(c.trees(), real) || paths.WithinAny(c.about.Temp, real) || paths.WithinAny(c.trees(), filepath.ToSlash(dir)) {
			return "the program lies in a folder that the agent may write: " + dir
		}
		return ""
	}
	return ""
}
