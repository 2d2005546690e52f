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
	"cardea.dev/internal/knowledge/files"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/state"
)

// Files is how the decider reads the machine.
type Files interface {
	// Stat and Lstat are those of package os.
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir lists a folder, at most max entries of it.
	ReadDir(name string, max int) ([]fs.DirEntry, error)
	// ReadFile reads a file of at most max bytes; a longer one is an error.
	ReadFile(name string, max int64) ([]byte, error)
}

type disk struct{}

func (disk) Stat(name string) (fs.FileInfo, error)  { return os.Stat(name) }
func (disk) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

func (disk) ReadDir(name string, max int) ([]fs.DirEntry, error) {
	return state.Entries(name, max)
}

func (disk) ReadFile(name string, max int64) ([]byte, error) {
	return state.ReadLinked(name, max)
}

// trees are the folders of the work in which reading is free.
func (c *call) trees() []string {
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
			// The home folder is no working tree, nor is what holds it.
			if real == "/" || c.about.Home != "" && paths.Within(real, filepath.ToSlash(c.about.Home)) {
				continue
			}
			c.found = append(c.found, real)
		}
	})
	return c.found
}

// free reports whether a path lies in the work or in a folder for temporary
// files. The home folder's files are never temporary.
func (c *call) free(p string) bool {
	if paths.WithinAny(c.trees(), p) {
		return true
	}
	return paths.WithinAny(c.about.Temp, p) && (c.about.Home == "" || !paths.Within(filepath.ToSlash(c.about.Home), p))
}

// reading is why a read is not free.
func (c *call) reading(a *cardea.Access) string {
	if a.Path == "" {
		return "it is not known what it reads"
	}
	if a.MetadataOnly && (c.free(a.Path) || systemFolder(a.Path)) {
		return "" // names and attributes are no secrets
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

// unreadable reports whether a pattern of the harness's own lists may be about
// a path: a name on the path is like the last name of the pattern.
func (c *call) unreadable(p string) bool {
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
		for _, name := range strings.Split(p, "/") {
			if paths.MatchName(last, name) || !paths.WellFormed(last) {
				return true
			}
		}
	}
	return false
}

// systemFolder reports whether a path lies in a folder of the system.
func systemFolder(p string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, d := range files.System() {
		if paths.Within(d, p) {
			return true
		}
	}
	return false
}

// system is why a file of the system is not free: what not everybody may read,
// and what shows the memory, the environment or the files of a process.
func (c *call) system(p string) string {
	if paths.Within("/proc", p) && !files.ShowsMachine(p) {
		return "it may show the inside of a process"
	}
	info, err := c.about.Files.Stat(p)
	if err != nil {
		return "what it reads cannot be looked at"
	}
	if info.Mode().Perm()&0o004 == 0 {
		return "not everybody may read " + p
	}
	return ""
}

// Limits of the look below a folder. What is over them is not looked at, and
// so not allowed.
const (
	maxEntries = 4000 // entries of folders
	maxDepth   = 12   // folders inside of each other
)

// beyond is why a covered access to a folder, or a read of what a pattern becomes, reaches
// more than what covers it names.
func (c *call) beyond(a *cardea.Access) string {
	if a.Kind == cardea.Write && a.Recursive {
		if info, err := c.about.Files.Lstat(a.Path); err == nil && info.IsDir() {
			return "it writes into a folder that is there already, where a link may lead elsewhere"
		}
		return ""
	}
	if a.Kind != cardea.Read || a.MetadataOnly || !a.Recursive && !a.Glob {
		return ""
	}
	return c.below(a)
}

// below is why what a recursive read or a pattern reaches is not free: a
// secret, or a link that leaves the work and what is covered.
func (c *call) below(a *cardea.Access) string {
	if a.Glob && paths.MayLeadUp(a.Pattern) {
		return "its pattern may lead to the folder above"
	}
	if a.SkipsHidden && c.ignores(a.Path) {
		a = &cardea.Access{Kind: a.Kind, Path: a.Path, Recursive: true} // hidden files may be brought back
	}
	left := maxEntries
	depth := maxDepth
	if !a.Recursive && !strings.Contains(a.Pattern, "**") && !strings.Contains(strings.TrimPrefix(a.Pattern, a.Path+"/"), "/") {
		depth = 1
	}
	return c.walk(a.Path, a, depth, &left)
}

func (c *call) walk(dir string, a *cardea.Access, depth int, left *int) string {
	entries, err := c.about.Files.ReadDir(dir, *left+1)
	if err != nil && len(entries) == 0 {
		return "" // a file, or nothing
	}
	if *left -= len(entries); *left < 0 {
		return "it reads more files than are looked at"
	}
	searched, everywhere := strings.CutPrefix(a.Pattern, strings.TrimSuffix(a.Path, "/")+"/**/") // files of this name
	if !everywhere || a.Recursive || strings.Contains(searched, "/") {
		searched = ""
	}
	for _, e := range entries {
		name := e.Name()
		if searched != "" && e.Type().IsRegular() && !mayBeNamed(searched, name) || searched == "" && a.Glob && depth == 1 && !paths.MayBeNamed(path.Base(a.Pattern), name) {
			continue
		}
		full := dir + "/" + name
		if a.SkipsHidden && strings.HasPrefix(name, ".") {
			if ignoreFile(name) && c.brings(full) || name == ".git" && (!e.IsDir() || c.brings(full+"/info/exclude")) {
				return "it may read hidden files: " + full
			}
			continue
		}
		switch {
		case files.MayHoldSecret(full):
			return "it may read a secret: " + name
		case c.unreadable(full):
			return "the harness's own list says something about " + name
		case e.Type()&fs.ModeSymlink != 0:
			if why := c.link(full, a.Path); why != "" {
				return why
			}
		case e.IsDir() && name == ".git":
			if c.tokens(full + "/config") {
				return "it may read a secret: .git/config"
			}
		case e.IsDir() && (depth > 1 || a.Recursive || everywhere):
			if depth <= 1 {
				return "it reads deeper than is looked at"
			}
			if why := c.walk(full, a, depth-1, left); why != "" {
				return why
			}
		}
	}
	return ""
}

// ignores reports whether a file above a folder may bring hidden files back that
// a search leaves out (ripgrep's guide, "Automatic filtering").
func (c *call) ignores(dir string) bool {
	for at := dir; ; at = path.Dir(at) {
		for _, name := range [...]string{".gitignore", ".ignore", ".rgignore", ".git/info/exclude"} {
			if c.brings(at + "/" + name) {
				return true
			}
		}
		if at == path.Dir(at) {
			return false
		}
	}
}

func ignoreFile(name string) bool {
	return name == ".gitignore" || name == ".ignore" || name == ".rgignore"
}

// brings reports whether an ignore file takes back what other lines, or the
// search itself, leave out. One that cannot be read may.
func (c *call) brings(name string) bool {
	if _, err := c.about.Files.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	data, err := c.about.Files.ReadFile(name, 256<<10)
	return err != nil || slices.ContainsFunc(strings.Split(string(data), "\n"), func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t\ufeff"), "!") })
}

// tokens reports whether a git configuration may hold a password or token. Its
// objects are packed, so that reading files shows nothing of them.
func (c *call) tokens(name string) bool {
	if _, err := c.about.Files.Lstat(name); err != nil {
		return false
	}
	data, err := c.about.Files.ReadFile(name, 256<<10)
	text := strings.ToLower(string(data))
	return err != nil || strings.Contains(text, "extraheader") || strings.Contains(text, "token") || strings.Contains(text, "password") || strings.Contains(text, "@") && strings.Contains(text, "://")
}

// link is why a link is not free to follow.
func (c *call) link(name, top string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "" // leads nowhere
	}
	real = filepath.ToSlash(real)
	if info, err := c.about.Files.Stat(real); err != nil || info.IsDir() && !paths.Within(top, real) {
		return "a link leads to a folder that is not looked at: " + name
	}
	if files.MayHoldSecret(real) || !c.free(real) && (c.covered == nil || !c.covered(&cardea.Access{Kind: cardea.Read, Path: real})) {
		return "a link leads out of what may be read: " + name
	}
	return ""
}

// mayBeNamed reports whether a name may match a pattern of find -name, which
// finds hidden files, too.
func mayBeNamed(pattern, name string) bool {
	return paths.MatchName(pattern, name) || strings.ContainsAny(pattern, "[\\")
}

// configuring is why a program that takes its configuration from files of this
// name is not trusted in a folder: the agent, or a clone, may have written one.
// Outside of the work it may be anybody's.
func (c *call) configuring(dir, name string) string {
	if dir == "" || !paths.WithinAny(c.trees(), dir) {
		return "it may be configured where it runs"
	}
	for at := dir; paths.WithinAny(c.trees(), at); at = path.Dir(at) {
		if _, err := c.about.Files.Lstat(path.Join(at, name)); !errors.Is(err, fs.ErrNotExist) {
			return "the project configures it: " + path.Join(at, name)
		}
		if at == path.Dir(at) {
			break
		}
	}
	return ""
}

// planted is why a bare name may mean a program that the agent has put there.
func (c *call) planted(name string) string {
	for _, dir := range filepath.SplitList(c.about.Path) {
		if !filepath.IsAbs(dir) {
			return "PATH holds a folder that depends on where it runs"
		}
		info, err := c.about.Files.Stat(filepath.Join(dir, name))
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
