package project

import (
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// MaxSurroundings is the maximum number of other projects that apply to one call.
const MaxSurroundings = 16

// FindIn returns the project of a session that began in start: the nearest folder at or
// above it with .cardea or .git, else start. Home folders and those above them are no
// projects unless they are start. A .git there is for dotfiles or from an agent, and would
// make everything one project. seen caches folders.
func FindIn(seen *state.Absent, start string, homes ...string) string {
	if start == "" {
		return ""
	}
	start = filepath.Clean(start)
	for dir := start; ; dir = filepath.Dir(dir) {
		if dir != start && slices.ContainsFunc(homes, func(home string) bool { return paths.Within(dir, home) }) {
			return start
		}
		if seen.Exists(filepath.Join(dir, ".cardea")) || seen.Exists(filepath.Join(dir, ".git")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

// SessionStart returns the folder from which to look for a session's project. It is
// CLAUDE_PROJECT_DIR if the harness sets it, else the folder of the session's first event.
// told is the reason if the variable cannot be used.
func SessionStart(env func(string) string, first string) (start, told string) {
	v := env("CLAUDE_PROJECT_DIR")
	if v == "" {
		return first, ""
	}
	info, err := os.Stat(v)
	if !filepath.IsAbs(v) || err != nil || !info.IsDir() {
		return first, "CLAUDE_PROJECT_DIR=" + v + " is no absolute path of a folder; the folder of the session is used instead"
	}
	return filepath.Clean(v), ""
}

// Surroundings returns other projects whose deny and ask rules apply to a call. They are
// the nearest folders with one of the marks (".cardea") at or above each path. The folders
// in known, the home folder and those above it are excluded. The result complete is false
// if there are more than [MaxSurroundings] projects, or too many folders to search in time.
//
// looked caches which paths are folders, for several searches about one call; nil caches
// nothing.
func Surroundings(looked *Looked, paths []string, home string, marks []string, known ...string) (projects []string, complete bool) {
	if looked == nil {
		looked = &Looked{}
	}
	walk := walk{looked: looked, marks: marks, seen: map[string]bool{}}
	if home != "" {
		walk.home = filepath.Clean(home)
	}
	for _, k := range known {
		walk.seen[k] = true
	}
	for _, p := range paths {
		if walk.tired {
			break
		}
		if !filepath.IsAbs(p) {
			continue
		}
		found := walk.nearest(filepath.Clean(p))
		if found == "" {
			continue
		}
		if len(projects) == MaxSurroundings {
			return projects, false
		}
		projects = append(projects, found)
	}
	return projects, !walk.tired
}

// walk records visited folders, so that a thousand files of one tree cost one walk upwards.
type walk struct {
	looked *Looked
	home   string // clean
	marks  []string
	seen   map[string]bool
	tired  bool
}

// maxFolders limits the cost of a call with thousands of paths.
const maxFolders = 4096

// maxPath is the maximum length of a path on Linux in bytes (path_resolution(7)).
const maxPath = 4096

// nearest returns the nearest folder with a mark that was not visited before, or "".
func (w *walk) nearest(path string) string {
	if len(path) > maxPath {
		path = filepath.Dir(path[:maxPath]) // a text mistaken for a path; no folder can be opened further down
	}
	for dir := path; !w.seen[dir] && !w.holdsHome(dir); dir = filepath.Dir(dir) {
		if len(w.seen) >= maxFolders {
			w.tired = true
			return ""
		}
		w.seen[dir] = true
		if dir == path && !w.looked.isFolder(dir) {
			continue // most paths are files, which contain nothing
		}
		if slices.ContainsFunc(w.marks, func(m string) bool { return w.looked.Seen.Exists(filepath.Join(dir, m)) }) {
			return dir
		}
	}
	return ""
}

// holdsHome reports whether a folder is the home folder or above it. A longer path never
// is.
func (w *walk) holdsHome(dir string) bool {
	return len(dir) <= len(w.home) && paths.Within(dir, w.home)
}

// Looked caches which paths are folders during one call. The zero value is ready for use
// and safe for concurrent use.
type Looked struct {
	// Seen caches folders that were already read, unless it is nil.
	Seen    *state.Absent
	mu      sync.Mutex
	folders map[string]bool
}

// isFolder reports whether a path is a folder. It skips paths in missing folders: a line
// may name thousands of files in few folders.
func (l *Looked) isFolder(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folders == nil {
		l.folders = map[string]bool{}
	}
	if is, known := l.folders[path]; known {
		return is
	}
	is := l.look(filepath.Dir(path)) && l.look(path)
	l.folders[path] = is
	return is
}

// look reports whether a path is a folder, from the cache if possible.
func (l *Looked) look(path string) bool {
	is, known := l.folders[path]
	if !known {
		is = l.Seen.IsFolder(path)
		l.folders[path] = is
	}
	return is
}

// Has reports whether a folder has an entry of this name; "" is the folder itself.
func Has(dir, name string) bool {
	return state.Exists(filepath.Join(dir, name))
}
