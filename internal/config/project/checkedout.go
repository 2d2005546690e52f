package project

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cardea.dev/internal/base/state"
)

// Checked identifies files called "local" that came with a repository. It remembers files
// that git once tracked, since an agent can remove a file from git's index. Such a file
// remains the project's until the user accepts it.
//
// A mark is an empty file. Its name is an HMAC of the path with the user's key, since the
// path may contain a secret. A planted mark only makes a file suspicious.
type Checked struct {
	// State is the state folder, "" to store nothing.
	State string
}

const markPurpose = "name of a file that git tracked"

// Tracked reports whether git tracks a file, or was seen to track it.
func (b Checked) Tracked(path string) bool {
	if b.State == "" {
		return Tracked(path)
	}
	key, err := state.ReadKey(b.State)
	if err == nil {
		_, err = os.Lstat(b.mark(key, path))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return true // it is marked, or that is unknown
	}
	if !Tracked(path) {
		return false
	}
	if key, err := state.LoadKey(b.State); err == nil {
		_ = state.Write(b.mark(key, path), nil) // on failure, the next call tries again
	}
	return true
}

// Forget removes the mark of a file that the user accepted, unless git still tracks it.
func (b Checked) Forget(path string) error {
	key, err := state.ReadKey(b.State)
	if err == nil && !Tracked(path) {
		err = os.Remove(b.mark(key, path))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// mark returns the path of the mark for a file, with links to its folder followed.
func (b Checked) mark(key []byte, path string) string {
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	return filepath.Join(b.State, "tracked", hex.EncodeToString(state.Sign(key, markPurpose, []byte(path))))
}
