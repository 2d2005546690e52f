package claudecode

import (
	"path/filepath"
	"strings"
)

// AdditionalDir is a folder of permissions.additionalDirectories, absolute; ""
// where it is neither absolute nor below the home folder, since the vendor does
// not say what it is relative to.
func AdditionalDir(dir, home string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
		dir = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}
