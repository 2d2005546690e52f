package claudecode

import (
	"path/filepath"
	"strings"
)

// AdditionalDir returns a folder of permissions.additionalDirectories as an absolute path. It
// returns "" if dir is neither absolute nor below the home folder, since the vendor does not
// document its base.
func AdditionalDir(dir, home string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
		dir = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}
