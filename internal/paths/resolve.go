package paths

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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
	mu    sync.Mutex
	known map[string]link
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
		found = readlink(path)
		if l.known == nil {
			l.known = map[string]link{}
		}
		l.known[path] = found
	}
	return found
}

// Resolve is the function of that name.
func (l *Links) Resolve(name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	return follow(name, false, l)
}

// Real is the function of that name.
func (l *Links) Real(name string) string {
	if name == "" {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil && !filepath.IsAbs(name) {
		name = abs
	}
	if real := follow(name, true, l); real != "" {
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

// follow follows the links of an absolute path. ours is set where this process
// opens it, so that the links of /proc lead where they lead now.
func follow(name string, ours bool, known *Links) string {
	if runtime.GOOS == "windows" {
		name = filepath.Clean(name)
	}
	volume := filepath.VolumeName(name)
	todo := filepath.ToSlash(name[len(volume):])
	done, gone := "", false
	for links := 0; todo != ""; {
		if len(done)+len(todo) > maxPath {
			return ""
		}
		var next string
		next, todo, _ = strings.Cut(strings.TrimLeft(todo, "/"), "/")
		switch next {
		case "", ".":
			continue
		case "..":
			done, gone = done[:max(strings.LastIndexByte(done, '/'), 0)], false
			continue
		}
		at := known.read(filepath.FromSlash(volume+done), next, gone)
		if at.target == "" { // no link, or nothing there
			done, gone = done+"/"+next, at.gone
			continue
		}
		target := at.target
		if links++; links > maxLinks {
			return ""
		}
		if !ours && ofProcess(done) {
			if next != "root" {
				return ""
			}
			target = "/"
		}
		if filepath.IsAbs(target) {
			volume, done = filepath.VolumeName(target), ""
			target = target[len(volume):]
		}
		todo = filepath.ToSlash(target) + "/" + todo
	}
	if done == "" {
		done = "/"
	}
	return filepath.ToSlash(volume) + path.Clean(done)
}

// ofProcess reports a folder of /proc that belongs to one process: what its
// links (cwd, exe, fd/0) lead to depends on who asks.
func ofProcess(dir string) bool {
	rest, ok := strings.CutPrefix(dir, "/proc/")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}
