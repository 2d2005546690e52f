package state

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNotFolder is the cause of errors about files, pipes and devices in the place
// of a folder.
var ErrNotFolder = errors.New("it is no folder; replace or remove it")

// ErrDangling is the cause of errors about links to nothing in the place of a file
// or folder: they are not the same as no file.
var ErrDangling = errors.New("it is a link to nothing; remove it")

// OpenFolder opens a folder for reading. It follows links.
func OpenFolder(path string) (*os.File, error) {
	if info, err := os.Stat(path); !safeOpen && err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotFolder}
	}
	d, err := os.OpenFile(path, os.O_RDONLY|onlyFolder, 0)
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
		info, lerr := os.Lstat(at)
		if lerr != nil && at != filepath.Dir(at) {
			continue
		}
		if lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			if _, serr := os.Stat(at); serr != nil {
				return &fs.PathError{Op: "open", Path: at, Err: ErrDangling}
			}
		}
		return err
	}
}
