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

// memory records what was inserted into a file, so that it can be removed to the byte. It
// is optional: a memory that is lost or does not match the file is ignored.
type memory struct {
	V    int    `json:"v"`
	File string `json:"file"`
	// After is the digest of the file after the change.
	After      string               `json:"after"`
	Insertions []jsonedit.Insertion `json:"insertions,omitempty"`
	// NewFile is set if there was no file. NewDirs holds the folders created for it, the
	// innermost first; Made holds the containers created in it.
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

// recall returns the memory of a file, nil if none exists.
func recall(folder, file string) *memory {
	var m memory
	data, err := state.Read(memoryPath(folder, file), maxFile)
	if err != nil || json.Unmarshal(data, &m) != nil || m.V != 1 || m.File != file {
		return nil
	}
	return &m
}

// mayDrop reports whether an empty container may be removed: an installation created it, or
// that is unknown.
func (m *memory) mayDrop(path string) bool { return m == nil || slices.Contains(m.Made, path) }

// save stores a memory. Without it, an uninstallation is only less exact.
func (m *memory) save(folder string) error {
	path := memoryPath(folder, m.File)
	if path == "" {
		return errors.New("there is no state folder")
	}
	var stored memory
	if data, err := state.Read(path, maxFile); err == nil && json.Unmarshal(data, &stored) == nil && stored.V > m.V {
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
