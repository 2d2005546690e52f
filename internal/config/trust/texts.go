package trust

import (
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

const (
	textsPurpose = "texts of a project's trust"
	// maxText is how much of one file is kept to be compared later, maxTexts
	// how much of all files of a project, in bytes.
	maxText  = 256 << 10
	maxTexts = 8 << 20
)

// textsPath is the file beside a project's manifest.
func textsPath(dir, project string) string {
	return strings.TrimSuffix(PathOf(dir, project), ".json") + ".texts"
}

// Texts are the files of a project as the person accepted them, by path as in
// a manifest and with secrets taken out. They are only for showing what has
// changed since. A file that was too large is not among them, and there are none
// where they cannot be believed.
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

// SaveTexts keeps the files of a project to be compared with later.
func SaveTexts(dir, project string, texts map[string]redact.Text) error {
	key, err := state.LoadKey(dir)
	if err != nil {
		return err
	}
	kept, size := map[string]string{}, 0
	for name, text := range texts {
		if s := text.String(); len(s) <= maxText && size+len(s) <= maxTexts {
			kept[filepath.ToSlash(name)] = s
			size += len(s)
		}
	}
	return state.WriteSignedJSON(textsPath(dir, project), keyOf(key, project), textsPurpose, project, kept)
}
