package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// The bounds of a folder of rules. A project's files are written by whoever
// sent the pull request.
const (
	MaxRuleFiles = 256
	MaxEntries   = 4096
	// How many bytes of rules are read for one call: of the person's, of the
	// session's project, and of all projects around together. A project that
	// makes the hook slow would gain that nothing is decided in time, and
	// reading a mebibyte takes most of a second.
	MaxOwnRules     = 16 << 20
	MaxProjectRules = 1 << 20
)

// ReadFile reads a regular file that is no larger than a document may be. A
// file that is not there gives nil and no error. inside, if not "", is the
// folder that the file must lie in after links are followed. when is the time of
// its last change.
func ReadFile(path, inside string) (data []byte, when time.Time, err error) {
	return ReadKnown(nil, path, inside)
}

// ReadKnown is [ReadFile], but for the reading of a file that is in a memory as it is.
func ReadKnown(known *state.Memory, path, inside string) (data []byte, when time.Time, err error) {
	data, when, err = known.ReadDated(path, document.MaxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, when, nil
	case errors.Is(err, state.ErrTooLarge):
		return make([]byte, document.MaxSize+1), when, nil // who reads it tells so
	case err != nil:
		return nil, when, plainError(err)
	}
	if inside != "" {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, when, plainError(err)
		}
		if !paths.Within(paths.Real(inside), real) {
			return nil, when, fmt.Errorf("it is a link to %s, outside of the project; copy the file into the project", real)
		}
	}
	return data, when, nil
}

// plainError is an error of the file system without the path, which the
// problem names already.
func plainError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// RuleFiles lists the YAML files of a folder, sorted. A folder that is not
// there has none. A folder that is cut off is an error: what was not read
// cannot be known to allow anything.
func RuleFiles(dir string) ([]string, error) {
	names, err := state.Names(dir, MaxEntries+1)
	if err != nil {
		return nil, plainError(err)
	}
	if len(names) > MaxEntries {
		return nil, fmt.Errorf("the folder has more than %d entries; move what are no rules elsewhere", MaxEntries)
	}
	files := names[:0]
	for _, n := range names {
		if ext := filepath.Ext(n); (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(n, ".") {
			files = append(files, filepath.Join(dir, n))
		}
	}
	if len(files) > MaxRuleFiles {
		return nil, fmt.Errorf("the folder has %d files of rules, more than %d; put several rules into a file", len(files), MaxRuleFiles)
	}
	slices.Sort(files)
	return files, nil
}
