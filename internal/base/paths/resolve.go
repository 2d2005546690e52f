package paths

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"cardea.dev/internal/base/moment"
)

// Bounds of following links. Linux follows 40 links in one path (path_resolution(7))
// and takes no path longer than 4096 bytes; what is beyond either is unknown.
const (
	maxLinks = 40
	maxPath  = 4096
)

// Links follows symbolic links, and remembers where each one leads: a call that
// names thousands of files in a few folders asks about each folder once. It is for
// the time of one look, since others may change links. The zero value is ready for
// use, by many goroutines; nil remembers nothing.
type Links struct {
	// Moment shares what is seen with other calls; nil: with none.
	Moment *moment.Moment
	mu     sync.Mutex
	known  map[string]link
	// folders are ways to folders, of the names in which more were asked for: for
	// other processes, and for this one.
	folders [2]map[string]way
}

// link is what one name is: no link where target is "".
type link struct {
	target string
	gone   bool
}

// read tells where a name leads, "" where it is no link. Below a folder that is not
// there nothing is.
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

// look asks the system what a path is, or takes what is known of it.
func (l *Links) look(path string) link {
	if n, known := l.Moment.Name(path); known {
		return link{n.Target, n.Gone}
	}
	return moment.Look(l.Moment, "link", path, readlink)
}

// Resolve is the function of that name.
func (l *Links) Resolve(name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	return l.follow(name, false)
}

// Real is the function of that name.
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

// Resolve follows the symbolic links of an absolute path as the kernel does:
// name by name, so that ".." behind a link leads out of what the link points
// to. What does not exist yet is kept as it is. A link to something that does
// not exist is followed too, since a new file would be created there.
//
// The result is "", for unknown, where there are too many links, where the path
// is too long, and where a link of /proc means something else to every process:
// the program that opens the path is another one. A path that is not absolute is
// kept: it may be another system's. On Windows, where the system removes ".."
// before it follows links, only links are read so.
func Resolve(name string) string { return (*Links)(nil).Resolve(name) }

// Real is a path of this process with its links followed, clean and with the
// platform's separators. A path whose links cannot be followed stays as it is;
// "" stays "".
func Real(name string) string { return (*Links)(nil).Real(name) }

// Through are the links on the way to a path, by where each one lies.
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

// follow follows the links of an absolute path. ours is set where this process
// opens it, so that the links of /proc lead where they lead now.
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
		return name // most names are no links
	}
	w.todo = last
	w.walk(ours, l)
	return w.path()
}

// folder is the way to a folder of a path.
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

// way is how far links were followed on the way to a file.
type way struct {
	// done is where it has led so far, "" for the root, and todo what is still to be
	// followed.
	volume, done, todo string
	// gone is set where done does not exist.
	gone bool
	// links is how many were followed, longest the length of the longest path.
	links, longest int
	// lost is set where the way cannot be known.
	lost bool
}

// wayTo is the beginning of the way to an absolute path.
func wayTo(name string) way {
	volume := filepath.VolumeName(name)
	return way{volume: volume, todo: filepath.ToSlash(name[len(volume):])}
}

// walk follows the way to its end.
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

// enter goes to a name in the folder that was reached.
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

// path is where the way has led, "" where that cannot be known.
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

// ofProcess reports a folder of /proc that belongs to one process: what its
// links (cwd, exe, fd/0) lead to depends on who asks.
func ofProcess(dir string) bool {
	rest, ok := strings.CutPrefix(dir, "/proc/")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}
