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

// The limits of a folder of rules. A pull request can contain a project's files.
const (
	MaxRuleFiles = 256
	MaxEntries   = 4096
	// Maximum bytes of rules for one call: of the user's rules, and of the project's or of all
	// surrounding projects together. A project that makes the hook slow could prevent a
	// decision in time, and reading a mebibyte takes most of a second.
	MaxOwnRules     = 16 << 20
	MaxProjectRules = 1 << 20
)

// ReadFile reads a regular file up to the maximum size of a document. A missing file
// returns nil and no error. inside, unless "", is the folder that must contain the file
// after links are followed. when is the modification time.
func ReadFile(path, inside string) (data []byte, when time.Time, err error) {
	return ReadKnown(nil, path, inside)
}

// ReadKnown is [ReadFile] with a cache.
func ReadKnown(known *state.Memory, path, inside string) (data []byte, when time.Time, err error) {
	data, when, err = known.ReadDated(path, document.MaxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, when, nil
	case errors.Is(err, state.ErrTooLarge):
		return make([]byte, document.MaxSize+1), when, nil // reading the document reports it
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

// plainError returns a file system error without the path, which the problem already names.
func plainError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// RuleFiles returns the YAML files of a folder, sorted; nil for a missing folder. It fails
// for a folder with too many files, since unread rules could deny.
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
