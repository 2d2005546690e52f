package claudecode

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness"
)

// maxSettings is the largest size of a settings file. Claude Code's are a few kilobytes.
const maxSettings = 4 << 20

// scope is the scope of a settings file (docs/design.md#scopes).
type scope uint8

const (
	managedScope scope = iota
	localScope
	projectScope
	userScope
)

type settingsFile struct {
	path  string
	scope scope
}

// ManagedDir returns the folder of Claude Code's managed settings on a platform, by its GOOS.
func ManagedDir(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// settingsFiles returns Claude Code's settings files, the strongest first: managed, local, project,
// user (settings, "Precedence"). Project files are those of the session's first folder and of the
// folders above it up to the root of its repository. Newer versions store the local file at the
// root. absent caches missing folders; it may be nil.
func settingsFiles(configDir, start, managedDir string, absent *state.Absent) []settingsFile {
	var out []settingsFile
	if managedDir != "" {
		var more []string
		if dir := filepath.Join(managedDir, "managed-settings.d"); !absent.Folder(dir) {
			more, _ = filepath.Glob(filepath.Join(dir, "*.json"))
			sort.Strings(more)
		}
		for _, f := range append([]string{filepath.Join(managedDir, "managed-settings.json")}, more...) {
			out = append(out, settingsFile{f, managedScope})
		}
	}
	dirs := projectDirs(start, absent)
	for _, dir := range dirs {
		out = append(out, settingsFile{filepath.Join(dir, ".claude", "settings.local.json"), localScope})
	}
	for _, dir := range dirs {
		if at := filepath.Join(dir, ".claude"); at != configDir {
			out = append(out, settingsFile{filepath.Join(at, "settings.json"), projectScope})
		}
	}
	if configDir != "" {
		out = append(out, settingsFile{filepath.Join(configDir, "settings.json"), userScope})
	}
	return out
}

// maxAbove is the largest number of folders above the session's folder that are read.
const maxAbove = 32

// projectDirs returns the folders whose settings apply to a session: the one in which it began, and
// those above it up to the root of the repository, if there is one.
func projectDirs(start string, absent *state.Absent) []string {
	if start == "" {
		return nil
	}
	var out []string
	for dir := start; len(out) < maxAbove; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if absent.Exists(filepath.Join(dir, ".git")) {
			return out
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return []string{start}
}

// readObject reads a JSON file. It returns nil for a missing file, and for one without the word
// about. A pipe or device in its place would hang the hook, so only regular files are opened.
// absent caches missing folders.
func readObject(file, about string, absent *state.Absent) (*harness.Payload, error) {
	if absent.File(file) {
		return nil, nil
	}
	raw, err := state.ReadLinked(file, maxSettings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, state.ErrNotRegular), errors.Is(err, state.ErrTooLarge):
		return nil, fmt.Errorf("%s: no regular file of less than %d bytes; replace it", file, maxSettings)
	case err != nil:
		return nil, fmt.Errorf("%s: %w; make the file readable", file, err)
	}
	if !bytes.Contains(raw, []byte(about)) {
		return nil, nil
	}
	p, err := harness.Read(raw)
	if err != nil {
		// Read mentions stdin, which is removed here.
		return nil, fmt.Errorf("%s: no JSON object (%s); mend the file", file, found(err))
	}
	return p, nil
}

// found removes the words about stdin from an error of harness.Read.
func found(err error) string {
	s := strings.TrimPrefix(err.Error(), harness.ErrNoObject.Error()+": ")
	if i := strings.LastIndex(s, ";"); i > 0 {
		s = s[:i]
	}
	return s
}

// values returns the value of every occurrence of a key, since it is unknown which of them the
// harness uses.
func values(p *harness.Payload, key string) []any { return valuesOf(p.Root(), key) }

func valuesOf(o *harness.Object, key string) []any {
	var out []any
	for _, e := range o.Entries() {
		if e.Key == key {
			out = append(out, e.Value)
		}
	}
	return out
}
