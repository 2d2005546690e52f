package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/script"
)

// ErrNotFound means that a harness's command is not on PATH.
var ErrNotFound = errors.New("not found on PATH")

// Version returns the version that a harness reports: "2.1.300". path holds the folders of
// PATH. Folders in the project are skipped, since the agent can put any program there.
func Version(ctx context.Context, h Harness, path []string, project string) (string, error) {
	program := lookup(h.Program, path, project)
	if program == "" {
		return "", fmt.Errorf("%s: %w", h.Program, ErrNotFound)
	}
	out, _, err := script.Process{Path: program, Args: []string{"--version"}, Limit: limit.Version, MaxOutput: maxProbe, KeepGroup: true}.Run(ctx)
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	for _, word := range strings.Fields(string(out)) {
		if v := strings.Trim(word, "v(),;."); isVersion(v) && v[0] >= '0' && v[0] <= '9' {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s --version tells no version", program)
}

// lookup returns the path of an executable in the folders of path, "" if none exists. It
// skips relative folders and those in the project.
func lookup(name string, path []string, project string) string {
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = []string{name + ".exe", name + ".cmd"}
	}
	for _, dir := range path {
		if !filepath.IsAbs(dir) || project != "" && paths.Within(paths.Real(project), dir) {
			continue
		}
		for _, n := range names {
			info, err := os.Stat(filepath.Join(dir, n))
			if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0) {
				return filepath.Join(dir, n)
			}
		}
	}
	return ""
}

// FailsClosed reports whether a version of a harness knows the key that makes it block if
// the hook fails: Claude Code from 2.1.295 on. Older builds may reject the whole entry
// because of an unknown key, so an unknown version does not get it.
func FailsClosed(h Harness, version string) bool {
	return h.switchKey != "" && atLeast(version, h.switchSince...)
}

// atLeast reports whether a version is want or later. Of "2.1.295-rc", it compares 2, 1,
// 295; an unknown version is too old.
func atLeast(version string, want ...int) bool {
	var got []int
	for _, part := range strings.SplitN(version, ".", len(want)+1) {
		digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
		n, err := strconv.Atoi(part[:digits])
		if err != nil {
			break
		}
		got = append(got, n)
	}
	return len(got) >= len(want) && slices.Compare(got, want) >= 0
}
