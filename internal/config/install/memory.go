package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/state"
)

// memory is what was put into one file, so that it can be taken out to the
// byte. It is a convenience: a memory that is lost or does not fit the file is
// not used.
type memory struct {
	V    int    `json:"v"`
	File string `json:"file"`
	// After is the digest of the file as it was written.
	After      string               `json:"after"`
	Insertions []jsonedit.Insertion `json:"insertions,omitempty"`
	// NewFile is set where there was no file, NewDirs are the folders made for
	// it, the innermost first; Made are the containers made in it.
	NewFile bool     `json:"new_file,omitempty"`
	NewDirs []string `json:"new_dirs,omitempty"`
	Made    []string `json:"made,omitempty"`
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func memoryPath(state, file string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, "install", digest([]byte(file))[:32]+".json")
}

// recall reads what is remembered of a file, nil where nothing is.
func recall(folder, file string) *memory {
	var m memory
	data, err := state.Read(memoryPath(folder, file), maxFile)
	if err != nil || json.Unmarshal(data, &m) != nil || m.V != 1 || m.File != file {
		return nil
	}
	return &m
}

// mayDrop reports whether an empty container may go: it was made by an
// installation, or nobody remembers.
func (m *memory) mayDrop(path string) bool { return m == nil || slices.Contains(m.Made, path) }

// save keeps a memory. A memory that cannot be kept costs exactness, no more.
func (m *memory) save(folder string) error {
	path := memoryPath(folder, m.File)
	if path == "" {
		return errors.New("there is no state folder")
	}
	var kept memory
	if data, err := state.Read(path, maxFile); err == nil && json.Unmarshal(data, &kept) == nil && kept.V > m.V {
		return fmt.Errorf("a newer Cardea wrote %s, and it is left as it is; install that one again", path)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return state.Write(path, append(data, '\n'))
}

func forget(state, file string) error {
	path := memoryPath(state, file)
	if path == "" {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
