package moment

import (
	"strings"
	"sync"
	"time"
)

// Name is what lies under a name in a folder.
type Name struct {
	// Target is where a link leads, as it is written in the link; "" for what is no link.
	Target string
	// Folder is set for a folder that is there itself, Gone where nothing is.
	Folder, Gone bool
}

// names remembers what lies under the names that were asked for in folders. A folder is
// asked for its stamp at each moment, and what is remembered of its names counts only while
// the stamp is the same: a system changes it whenever a name comes, goes, or becomes
// something else, and no program can set the time of that change.
type names struct {
	mu      sync.Mutex
	folders map[string]*folder
}

// folder is what is remembered of a folder.
type folder struct {
	// gone is set where there is none, so that nothing is in it.
	gone  bool
	stamp stamp
	mu    sync.Mutex
	names map[string]Name
}

// The bounds of what is remembered. Beyond them it is looked at again.
const (
	maxFolders      = 1 << 10
	maxFolderNames  = 1 << 10
	maxFolderLength = 1 << 10 // bytes of a path
)

// Settled is how old the last change of a file or folder must be before its stamp tells what
// it holds: systems count time in ticks, those of FAT take two seconds.
const Settled = 3 * time.Second

// Name is what lies under an absolute path, whose last name is not followed. known is
// false where that is not remembered: the caller looks then.
func (m *Moment) Name(path string) (n Name, known bool) {
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

// folder is what is remembered of a folder as it is since the call came, nil where
// nothing can be.
func (m *Moment) folder(dir string) *folder {
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

// folder is what is remembered of a folder that has a stamp now, nil where its stamp does
// not tell enough.
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

// name is what lies under a name.
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
