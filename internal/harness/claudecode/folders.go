package claudecode

import (
	"path/filepath"
	"strings"

	"cardea.dev/internal/harness"
)

// AdditionalDirs lists the folders that the person, or the machine's
// administrator, added to what Claude Code works in
// (permissions.additionalDirectories). Those of a project's own files are left
// out, settings.local.json included: a clone can bring either. A folder that
// is not absolute or below the home folder is left out as well, since the
// vendor does not say what it is relative to.
func AdditionalDirs(configDir, managedDir, home string) []string {
	var out []string
	for _, f := range settingsFiles(configDir, "", managedDir) {
		p, err := readObject(f.path)
		if err != nil || p == nil {
			continue // PluginRoots reports what cannot be read
		}
		for _, perms := range values(p, "permissions") {
			o, ok := perms.(*harness.Object)
			if !ok {
				continue
			}
			for _, v := range valuesOf(o, "additionalDirectories") {
				list, _ := v.([]any)
				for _, e := range list {
					if dir := additionalDir(e, home); dir != "" {
						out = append(out, dir)
					}
				}
			}
		}
	}
	return out
}

func additionalDir(v any, home string) string {
	dir, _ := v.(string)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
		dir = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Clean(dir)
}
