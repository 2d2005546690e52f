package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// maxFile is the maximum size of a settings file in bytes.
const maxFile = 4 << 20

// file is a settings file as it is on disk.
type file struct {
	// path is the file with links followed; named is the path as requested.
	named, path string
	data        []byte
	mode        fs.FileMode
	exists      bool
}

// othersBits are the mode bits that let others read or write.
const othersBits = 0o077

// link returns the path of the file or of its folder if that is a symbolic link, else "".
func (f *file) link() string {
	for _, path := range []string{f.named, filepath.Dir(f.named)} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return path
		}
	}
	return ""
}

// open reads a file that may be missing. Links must not leave the folder within, unless it
// is "". A clone can contain a link to any file of the user, but users may set their own
// links.
func open(named, within string) (*file, error) {
	f := &file{named: named, path: named}
	real, err := follow(named)
	if err != nil {
		return nil, err
	}
	if f.path = real; within != "" && !paths.Within(paths.Real(within), real) {
		return nil, fmt.Errorf("%s leads out of the project, to %s; replace the link by a file", named, real)
	}
	info, err := os.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; make it readable", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is no regular file of less than %d bytes; replace it", real, maxFile)
	}
	if f.data, err = state.Read(real, maxFile); err != nil {
		return nil, fmt.Errorf("%w; make it readable", err)
	}
	f.mode, f.exists = info.Mode().Perm(), true
	return f, nil
}

// follow follows symbolic links. The file itself may be missing, but a dangling link is an
// error, since its intent is unknown.
func follow(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a link to a file that does not exist; make the file, or remove the link", path)
	}
	if filepath.Dir(path) == path {
		return path, nil
	}
	dir, err := follow(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// writable returns why a file cannot be replaced. Root could write it anyway, but a
// read-only file is intentional.
func (f *file) writable() error {
	if f.exists && f.mode&0o222 == 0 {
		return fmt.Errorf("%s is read-only, so nothing was changed; make it writable (chmod u+w) and run this again", f.path)
	}
	for dir := filepath.Dir(f.path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
			continue
		}
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is no folder; move it away", dir)
		case info.Mode().Perm()&0o222 == 0:
			return fmt.Errorf("the folder %s is read-only, so nothing was changed; make it writable (chmod u+w) and run this again", dir)
		}
		return nil
	}
}

// unchanged returns an error if the file changed since open.
func (f *file) unchanged() error {
	now, err := state.Read(f.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) && !f.exists {
		return nil
	}
	if err != nil {
		return err
	}
	if !f.exists || !bytes.Equal(now, f.data) {
		return fmt.Errorf("%s was changed by somebody else just now, so it was left alone; run this again", f.path)
	}
	return nil
}

// replace writes the file by rename, with its previous mode and owner. It returns the
// folders that it created, the innermost first.
func (f *file) replace(data []byte, mode, dirMode fs.FileMode) (made []string, err error) {
	dir := filepath.Dir(f.path)
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, err
	}
	if f.exists {
		mode = f.mode
	}
	return made, state.Replace(f.path, data, func(t *os.File) error {
		if err := t.Chmod(mode); err != nil || !f.exists {
			return err
		}
		return keepOwner(t, f.path)
	})
}
