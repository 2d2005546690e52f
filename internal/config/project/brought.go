package project

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cardea.dev/internal/base/state"
)

// Brought tells which files called "local" came with a repository. It remembers
// those that git was once seen to track, since an agent can take a file out of
// git's index: such a file stays the project's until a person accepts it.
//
// A mark is an empty file whose name is made with the user's key from the path,
// which may hold a secret. Planting one makes a file doubted, no more.
type Brought struct {
	// State is the state folder, "" where nothing is kept.
	State string
}

const markPurpose = "name of a file that git tracked"

// Tracked reports whether git tracks a file, or was seen to track it.
func (b Brought) Tracked(path string) bool {
	if b.State == "" {
		return Tracked(path)
	}
	key, err := state.ReadKey(b.State)
	if err == nil {
		_, err = os.Lstat(b.mark(key, path))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return true // it is marked, or that cannot be told
	}
	if !Tracked(path) {
		return false
	}
	if key, err := state.LoadKey(b.State); err == nil {
		_ = state.Write(b.mark(key, path), nil) // the next call sees it once more
	}
	return true
}

// Forget forgets that git tracked a file which a person has accepted, unless git
// still does.
func (b Brought) Forget(path string) error {
	key, err := state.ReadKey(b.State)
	if err == nil && !Tracked(path) {
		err = os.Remove(b.mark(key, path))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// mark is the file that says that git tracked another one, whichever way its
// folder is reached.
func (b Brought) mark(key []byte, path string) string {
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	return filepath.Join(b.State, "tracked", hex.EncodeToString(state.Sign(key, markPurpose, []byte(path))))
}
