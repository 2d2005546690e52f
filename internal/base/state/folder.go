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

	"cardea.dev/internal/base/moment"
)

// ErrNotFolder is the cause of errors about files, pipes and devices in the place
// of a folder.
var ErrNotFolder = errors.New("it is no folder; replace or remove it")

// ErrDangling is the cause of errors about links to nothing in the place of a file
// or folder: they are not the same as no file.
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

// Names lists a folder, at most limit names of it. A folder that is not there is
// empty.
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

// Entries lists a folder, sorted by name, at most limit entries of it.
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

// dangling tells a link to nothing, in the place of a file or of a folder above it,
// from nothing.
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

// Exists reports whether something is there, be it a link to nothing.
func Exists(path string) bool {
	_, _, err := lookAt(path)
	return err == nil
}

// IsLink reports whether a link is there.
func IsLink(path string) bool {
	link, _, _ := lookAt(path)
	return link
}

// Absent remembers which folders are not there, for the time of one look at many
// files: what lies in such a folder need not be asked for. The zero value is ready
// for use, nil remembers nothing.
type Absent struct {
	// Moment shares what is seen with other calls; nil: with none.
	Moment  *moment.Moment
	mu      sync.Mutex
	known   map[string]bool
	folders map[string]bool
}

// File reports that there is no such file, nor a link to nothing in its place or above
// it.
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

// isFolder reports whether a folder is there, or a link to one.
func (a *Absent) isFolder(dir string) bool {
	is, known := a.folders[dir]
	if !known {
		is = a.leadsToFolder(dir)
		a.note(dir, is)
	}
	return is
}

func (a *Absent) leadsToFolder(path string) bool {
	if n, known := a.Moment.Name(path); known && n.Target == "" {
		return n.Folder
	}
	return moment.Look(a.Moment, "folder", path, leadsToFolder)
}

// IsFolder reports whether a folder is there, or a link to one.
func (a *Absent) IsFolder(path string) bool {
	if a == nil {
		return leadsToFolder(path)
	}
	return a.leadsToFolder(path)
}

// Exists is the function of that name.
func (a *Absent) Exists(path string) bool {
	if a != nil {
		if n, known := a.Moment.Name(path); known {
			return !n.Gone
		}
	}
	return Exists(path)
}

// Gone reports that nothing is there, not even a link to nothing.
func (a *Absent) Gone(path string) bool {
	if a == nil {
		return lookedAt(path).gone
	}
	return a.lookAt(path).gone
}

// IsLink is the function of that name.
func (a *Absent) IsLink(path string) bool {
	if a != nil {
		if n, known := a.Moment.Name(path); known {
			return n.Target != ""
		}
	}
	return IsLink(path)
}

// ReadLinked is the function of that name. What is not there is not opened.
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

// looked is what a look at a name shows.
type looked struct{ folder, gone bool }

func lookedAt(path string) looked {
	_, folder, err := lookAt(path)
	return looked{folder, errors.Is(err, fs.ErrNotExist)}
}

func (a *Absent) lookAt(path string) looked {
	if n, known := a.Moment.Name(path); known {
		return looked{n.Folder, n.Gone}
	}
	return moment.Look(a.Moment, "name", path, lookedAt)
}

// note notes whether a folder is there, or a link to one.
func (a *Absent) note(dir string, is bool) {
	if a.folders == nil {
		a.folders = map[string]bool{}
	}
	a.folders[dir] = is
}

// Folder reports that there is no such folder, nor a link to nothing in its place or
// above it.
func (a *Absent) Folder(dir string) bool {
	if a == nil {
		a = new(Absent)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.folder(dir)
}

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
