package state

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cardea.dev/internal/base/statcache"
)

// ErrNotFolder is the cause of errors about files, pipes and devices in the place of a
// folder.
var ErrNotFolder = errors.New("it is no folder; replace or remove it")

// ErrDangling is the cause of errors about dangling links in the place of a file or folder.
// They differ from a missing file.
var ErrDangling = errors.New("it is a link to nothing; remove it")

// OpenFolder opens a folder for reading. It follows links.
func OpenFolder(path string) (*os.File, error) {
	if !safeOpen {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotFolder}
		}
	}
	d, err := openFolder(path)
	if isNoFolder(err) {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotFolder}
	}
	return d, dangling(path, err)
}

// Names returns at most limit names in a folder. A missing folder is empty.
func Names(dir string, limit int) ([]string, error) {
	entries, err := entries(dir, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, err
}

// Entries returns at most limit entries of a folder, sorted by name.
func Entries(dir string, limit int) ([]fs.DirEntry, error) {
	out, err := entries(dir, limit)
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, err
}

func entries(dir string, limit int) ([]fs.DirEntry, error) {
	d, err := OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.ReadDir(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out, err
}

// dangling replaces err by ErrDangling if the file, or a folder above it, is a dangling
// link.
func dangling(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for at := path; ; at = filepath.Dir(at) {
		link, _, lerr := lookAt(at)
		if lerr != nil && at != filepath.Dir(at) {
			continue
		}
		if link {
			if _, serr := os.Stat(at); serr != nil {
				return &fs.PathError{Op: "open", Path: at, Err: ErrDangling}
			}
		}
		return err
	}
}

// Exists reports whether something exists at path, even a dangling link.
func Exists(path string) bool {
	_, _, err := lookAt(path)
	return err == nil
}

// IsLink reports whether path is a link.
func IsLink(path string) bool {
	link, _, _ := lookAt(path)
	return link
}

// Absent caches which folders are missing, for one pass over many files: files in such a
// folder need no check. The zero value is ready for use; nil caches nothing.
type Absent struct {
	// Stats shares results with other calls, unless it is nil.
	Stats   *statcache.View
	mu      sync.Mutex
	known   map[string]bool
	folders map[string]bool
}

// File reports whether the file is missing, with no dangling link in its place or above it.
func (a *Absent) File(path string) bool {
	if a == nil {
		a = new(Absent)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	dir := filepath.Dir(path)
	if a.folder(dir) {
		return true
	}
	if !a.lookAt(path).gone {
		return false
	}
	return a.isFolder(dir)
}

// isFolder reports whether dir is a folder or a link to one. The caller holds the lock.
func (a *Absent) isFolder(dir string) bool {
	is, known := a.folders[dir]
	if !known {
		is = a.leadsToFolder(dir)
		a.note(dir, is)
	}
	return is
}

func (a *Absent) leadsToFolder(path string) bool {
	if n, known := a.Stats.Name(path); known && n.Target == "" {
		return n.Folder
	}
	return statcache.Look(a.Stats, "folder", path, leadsToFolder)
}

// IsFolder reports whether path is a folder or a link to one.
func (a *Absent) IsFolder(path string) bool {
	if a == nil {
		return leadsToFolder(path)
	}
	return a.leadsToFolder(path)
}

// Exists is [Exists] with this cache.
func (a *Absent) Exists(path string) bool {
	if a != nil {
		if n, known := a.Stats.Name(path); known {
			return !n.Gone
		}
	}
	return Exists(path)
}

// Gone reports whether nothing is at path, not even a dangling link.
func (a *Absent) Gone(path string) bool {
	if a == nil {
		return lookedAt(path).gone
	}
	return a.lookAt(path).gone
}

// IsLink is [IsLink] with this cache.
func (a *Absent) IsLink(path string) bool {
	if a != nil {
		if n, known := a.Stats.Name(path); known {
			return n.Target != ""
		}
	}
	return IsLink(path)
}

// ReadLinked is [ReadLinked] with this cache. It does not open missing files.
func (a *Absent) ReadLinked(path string, limit int64) ([]byte, error) {
	if a != nil && a.File(path) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return ReadLinked(path, limit)
}

func leadsToFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// looked is the result of an lstat.
type looked struct{ folder, gone bool }

func lookedAt(path string) looked {
	_, folder, err := lookAt(path)
	return looked{folder, errors.Is(err, fs.ErrNotExist)}
}

func (a *Absent) lookAt(path string) looked {
	if n, known := a.Stats.Name(path); known {
		return looked{n.Folder, n.Gone}
	}
	return statcache.Look(a.Stats, "name", path, lookedAt)
}

// note caches whether dir is a folder or a link to one.
func (a *Absent) note(dir string, is bool) {
	if a.folders == nil {
		a.folders = map[string]bool{}
	}
	a.folders[dir] = is
}

// Folder reports whether the folder is missing, with no dangling link in its place or above
// it.
func (a *Absent) Folder(dir string) bool {
	if a == nil {
		a = new(Absent)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.folder(dir)
}

// folder is Folder for a caller that holds the lock.
func (a *Absent) folder(dir string) bool {
	absent, known := a.known[dir]
	if known {
		return absent
	}
	if above := filepath.Dir(dir); a.known[above] {
		absent = true
	} else if at := a.lookAt(dir); at.folder {
		a.note(dir, true)
	} else if at.gone && dir != above {
		absent = a.folder(above) || a.isFolder(above)
	}
	if a.known == nil {
		a.known = map[string]bool{}
	}
	a.known[dir] = absent
	return absent
}
