package trust

import (
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

const (
	textsPurpose = "texts of a project's trust"
	// maxText is the maximum size of a stored file, maxTexts that of all files of a project,
	// in bytes.
	maxText  = 256 << 10
	maxTexts = 8 << 20
)

// textsPath returns the path of the texts of a project, next to its manifest.
func textsPath(dir, project string) string {
	return strings.TrimSuffix(PathOf(dir, project), ".json") + ".texts"
}

// Texts returns the files of a project as the user accepted them, without secrets, by path
// as in a manifest. They only serve to show changes. Large files are left out. It returns
// nil if the texts cannot be verified.
func Texts(dir, project string) map[string]string {
	key, err := state.ReadKey(dir)
	if err != nil {
		return nil
	}
	var out map[string]string
	if state.ReadSignedJSON(textsPath(dir, project), keyOf(key, project), textsPurpose, project, 2*maxTexts, &out) != nil {
		return nil
	}
	return out
}

// SaveTexts stores the files of a project for later comparison.
func SaveTexts(dir, project string, texts map[string]redact.Text) error {
	key, err := state.LoadKey(dir)
	if err != nil {
		return err
	}
	stored, size := map[string]string{}, 0
	for name, text := range texts {
		if s := text.String(); len(s) <= maxText && size+len(s) <= maxTexts {
			stored[filepath.ToSlash(name)] = s
			size += len(s)
		}
	}
	return state.WriteSignedJSON(textsPath(dir, project), keyOf(key, project), textsPurpose, project, stored)
}
