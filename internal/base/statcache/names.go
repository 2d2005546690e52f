package statcache

import (
	"strings"
	"sync"
	"time"
)

// Name describes an entry of a folder.
type Name struct {
	// Target is the target of a link as written in it, "" if the entry is not a link.
	Target string
	// Folder is set for a folder, Gone if there is no such entry.
	Folder, Gone bool
}

// names caches the entries of folders. Each call reads the stamp of a folder, and the
// cached entries are valid only while the stamp is the same. The system changes it whenever
// an entry is added, removed or replaced, and programs cannot set that time.
type names struct {
	mu      sync.Mutex
	folders map[string]*folder
}

// folder is the cache of a folder.
type folder struct {
	// gone is set if the folder does not exist.
	gone  bool
	stamp stamp
	mu    sync.Mutex
	names map[string]Name
}

// The limits of the cache. Beyond them, entries are read again.
const (
	maxFolders      = 1 << 10
	maxFolderNames  = 1 << 10
	maxFolderLength = 1 << 10 // bytes of a path
)

// Settled is the minimum age of the last change of a file or folder for its stamp to be
// reliable. Systems count time in ticks; those of FAT are two seconds.
const Settled = 3 * time.Second

// Name returns the entry at an absolute path, whose last element is not followed. known is
// false if the cache cannot answer; the caller then reads it.
func (m *View) Name(path string) (n Name, known bool) {
	if m == nil || m.ended.Load() || len(path) > maxFolderLength {
		return n, false
	}
	slash := strings.LastIndexByte(path, '/')
	last := path[slash+1:]
	if slash < 0 || path[0] != '/' || last == "" || last == "." || last == ".." {
		return n, false
	}
	dir := path[:max(slash, 1)]
	switch f := m.folder(dir); {
	case f == nil:
		return n, false
	case f.gone:
		return Name{Gone: true}, true
	default:
		return f.name(dir, last)
	}
}

// folder returns the cache of a folder, valid since the call began. It returns nil if the
// folder cannot be cached.
func (m *View) folder(dir string) *folder {
	m.mu.Lock()
	f, asked := m.folders[dir]
	m.mu.Unlock()
	if asked {
		return f
	}
	if n, known := m.Name(dir); known && n.Gone {
		f = &folder{gone: true}
	} else if now := Look(m, "stamp", dir, stampOf); now != (stamp{}) {
		f = m.shared.names.folder(dir, now)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.folders == nil {
		m.folders = map[string]*folder{}
	}
	m.folders[dir] = f
	return f
}

// folder returns the cache of a folder with the stamp now, nil if the stamp is not
// reliable.
func (x *names) folder(dir string, now stamp) *folder {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f := x.folders[dir]; f != nil && f.stamp == now {
		return f
	}
	if !now.tells(dir, time.Now()) {
		return nil
	}
	f := &folder{stamp: now, names: map[string]Name{}}
	if x.folders == nil || len(x.folders) >= maxFolders {
		x.folders = map[string]*folder{}
	}
	x.folders[dir] = f
	return f
}

// name returns an entry of the folder, read if it is not cached.
func (f *folder) name(dir, last string) (Name, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, known := f.names[last]
	if !known {
		if n, known = look(dir, f.stamp, last); known {
			if len(f.names) >= maxFolderNames {
				clear(f.names)
			}
			f.names[strings.Clone(last)] = n
		}
	}
	return n, known
}
