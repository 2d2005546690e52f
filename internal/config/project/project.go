package project

import (
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// MaxSurroundings is how many further projects count for one call.
const MaxSurroundings = 16

// FindIn is the project of a session that began in start: the nearest
// folder at or above it that has .cardea or .git, else start. Home folders
// and what lies above them are no project unless they are start itself: a .git
// there holds dotfiles, or an agent made it, and everything would be one project.
// seen keeps what was seen of folders.
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

// SessionStart is the folder that a session's project is looked for from:
// CLAUDE_PROJECT_DIR where the harness sets it, else the folder of the
// session's first event. told is "" unless the variable cannot be used.
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

// Surroundings are further projects whose denies and asks count for a call:
// the nearest folder with one of the marks (".cardea") at or above each of the
// paths, without known, the home folder and what lies above it. complete is
// false when the call names more than [MaxSurroundings] projects, or paths in so many folders
// that looking would take too long: what was not looked at is not known.
//
// looked remembers which paths are folders, for several such questions about one
// call; nil remembers nothing.
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

// walk remembers which folders were passed, so that a thousand files of one
// tree cost one walk upwards.
type walk struct {
	looked *Looked
	home   string // clean
	marks  []string
	seen   map[string]bool
	tired  bool
}

// maxFolders bounds what a call that names thousands of paths can cost.
const maxFolders = 4096

// maxPath is the length of the longest path that Linux opens, in bytes (path_resolution(7)).
const maxPath = 4096

// nearest is the nearest folder with a mark that was not passed before, or "".
func (w *walk) nearest(path string) string {
	if len(path) > maxPath {
		path = filepath.Dir(path[:maxPath]) // a text that is taken for a path; no folder can be asked for further in
	}
	for dir := path; !w.seen[dir] && !w.holdsHome(dir); dir = filepath.Dir(dir) {
		if len(w.seen) >= maxFolders {
			w.tired = true
			return ""
		}
		w.seen[dir] = true
		if dir == path && !w.looked.isFolder(dir) {
			continue // most paths are files, and nothing lies in those
		}
		if slices.ContainsFunc(w.marks, func(m string) bool { return w.looked.Seen.Exists(filepath.Join(dir, m)) }) {
			return dir
		}
	}
	return ""
}

// holdsHome reports whether a folder is the home folder or lies above it. No longer path
// does.
func (w *walk) holdsHome(dir string) bool {
	return len(dir) <= len(w.home) && paths.Within(dir, w.home)
}

// Looked remembers which paths are folders, for the time of one call. The zero value is
// ready for use, by many goroutines.
type Looked struct {
	// Seen is what was seen of folders already; nil: nothing.
	Seen    *state.Absent
	mu      sync.Mutex
	folders map[string]bool
}

// isFolder reports whether a path is a folder. What lies in a folder that is not there
// is not asked for: a line may name thousands of files of few folders.
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

// look takes a look, or remembers one.
func (l *Looked) look(path string) bool {
	is, known := l.folders[path]
	if !known {
		is = l.Seen.IsFolder(path)
		l.folders[path] = is
	}
	return is
}

// Has reports whether a folder has an entry of a name; "" is the folder itself.
func Has(dir, name string) bool {
	return state.Exists(filepath.Join(dir, name))
}
