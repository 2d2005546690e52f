package paths

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"cardea.dev/internal/base/statcache"
)

// Limits for following links. Linux follows 40 links in one path (path_resolution(7)) and
// accepts paths of at most 4096 bytes. A path beyond either is unknown.
const (
	maxLinks = 40
	maxPath  = 4096
)

// Links follows symbolic links and caches their targets: a call with thousands of files in
// a few folders reads each folder once. Use it for a short time, since links may change.
// The zero value is ready for use and safe for concurrent use; nil caches nothing.
type Links struct {
	// Stats shares results with other calls, unless it is nil.
	Stats *statcache.View
	mu    sync.Mutex
	known map[string]link
	// folders caches the ways to folders: [0] for other processes, [1] for this one.
	folders [2]map[string]way
}

// link is the result of reading one name. target is "" if the name is not a link.
type link struct {
	target string
	gone   bool
}

// read returns the link at a name in dir. gone is set if dir does not exist.
func (l *Links) read(dir, name string, gone bool) link {
	if gone {
		return link{gone: true}
	}
	if l == nil {
		return readlink(dir + "/" + name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	path := dir + "/" + name
	found, known := l.known[path]
	if !known {
		found = l.look(path)
		if l.known == nil {
			l.known = map[string]link{}
		}
		l.known[path] = found
	}
	return found
}

// look reads a link, or takes the result from Stats.
func (l *Links) look(path string) link {
	if n, known := l.Stats.Name(path); known {
		return link{n.Target, n.Gone}
	}
	return statcache.Look(l.Stats, "link", path, readlink)
}

// Resolve is [Resolve] with this cache.
func (l *Links) Resolve(name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	return l.follow(name, false)
}

// Real is [Real] with this cache.
func (l *Links) Real(name string) string {
	if name == "" {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil && !filepath.IsAbs(name) {
		name = abs
	}
	if real := l.follow(name, true); real != "" {
		return filepath.FromSlash(real)
	}
	return filepath.Clean(name)
}

// Resolve follows the symbolic links of an absolute path as the kernel does: name by name.
// So ".." after a link leads out of the link's target. Missing names stay. A link to a
// missing file is also followed, since a new file would be created there.
//
// It returns "" (unknown) if there are too many links or the path is too long. It also
// returns "" if a link of /proc depends on the process, since another program opens the
// path. A relative path is returned unchanged: it may belong to another system. On Windows,
// which removes ".." before it follows links, ".." is removed first.
func Resolve(name string) string { return (*Links)(nil).Resolve(name) }

// Real returns a path of this process with its links followed, clean and with the
// platform's separators. A path whose links cannot be followed is only cleaned; "" stays
// "".
func Real(name string) string { return (*Links)(nil).Real(name) }

// Through returns the paths of the links on the way to a path.
func Through(name string) (links []string) {
	l := new(Links)
	l.Real(name)
	for at, to := range l.known {
		if to.target != "" {
			links = append(links, filepath.FromSlash(at))
		}
	}
	return links
}

// follow follows the links of an absolute path. ours is set if this process opens it, so
// that links of /proc have their current targets.
func (l *Links) follow(name string, ours bool) string {
	if runtime.GOOS == "windows" {
		name = filepath.Clean(name)
	}
	slash := strings.LastIndexByte(name, '/')
	last := name[slash+1:]
	if l == nil || slash < 0 || last == "" || last == "." || last == ".." {
		w := wayTo(name)
		w.walk(ours, l)
		return w.path()
	}
	dir := name[:slash]
	w := l.folder(dir, ours)
	if w.lost || w.longest+len(name)-slash > maxPath {
		return ""
	}
	if w.volume == "" && w.done == dir && l.read(dir, last, w.gone).target == "" {
		return name // the usual case: not a link
	}
	w.todo = last
	w.walk(ours, l)
	return w.path()
}

// folder returns the way to a folder.
func (l *Links) folder(dir string, ours bool) way {
	of := 0
	if ours {
		of = 1
	}
	l.mu.Lock()
	w, known := l.folders[of][dir]
	l.mu.Unlock()
	if known {
		return w
	}
	w = wayTo(dir)
	w.walk(ours, l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folders[of] == nil {
		l.folders[of] = map[string]way{}
	}
	l.folders[of][dir] = w
	return w
}

// way is the progress of following links to a file.
type way struct {
	// done is the path reached so far, "" for the root; todo is the rest of the path.
	volume, done, todo string
	// gone is set if done does not exist.
	gone bool
	// links is the number of links followed, longest the length of the longest path.
	links, longest int
	// lost is set if the target is unknown.
	lost bool
}

// wayTo returns the beginning of the way to an absolute path.
func wayTo(name string) way {
	volume := filepath.VolumeName(name)
	return way{volume: volume, todo: filepath.ToSlash(name[len(volume):])}
}

// walk follows the way to its end, or until it is lost.
func (w *way) walk(ours bool, known *Links) {
	for w.todo != "" && !w.lost {
		if w.longest = max(w.longest, len(w.done)+len(w.todo)); w.longest > maxPath {
			w.lost = true
			return
		}
		var next string
		next, w.todo, _ = strings.Cut(strings.TrimLeft(w.todo, "/"), "/")
		switch next {
		case "", ".":
		case "..":
			w.done, w.gone = w.done[:max(strings.LastIndexByte(w.done, '/'), 0)], false
		default:
			w.enter(next, ours, known)
		}
	}
}

// enter moves to a name in the folder reached so far.
func (w *way) enter(name string, ours bool, known *Links) {
	at := known.read(filepath.FromSlash(w.volume+w.done), name, w.gone)
	if at.target == "" { // no link, or nothing there
		w.done, w.gone = w.done+"/"+name, at.gone
		return
	}
	target := at.target
	if w.links++; w.links > maxLinks {
		w.lost = true
		return
	}
	if !ours && ofProcess(w.done) {
		if name != "root" {
			w.lost = true
			return
		}
		target = "/"
	}
	if filepath.IsAbs(target) {
		w.volume, w.done = filepath.VolumeName(target), ""
		target = target[len(w.volume):]
	}
	w.todo = filepath.ToSlash(target) + "/" + w.todo
}

// path returns the path reached, "" if it is unknown.
func (w *way) path() string {
	if w.lost {
		return ""
	}
	done := w.done
	if done == "" {
		done = "/"
	}
	return filepath.ToSlash(w.volume) + path.Clean(done)
}

// ofProcess reports whether dir is a folder of /proc that belongs to one process. The
// targets of its links (cwd, exe, fd/0) depend on the reading process.
func ofProcess(dir string) bool {
	rest, ok := strings.CutPrefix(dir, "/proc/")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}
