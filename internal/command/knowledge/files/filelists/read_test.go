package filelists

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMistakes checks that each mistake is reported with its position.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"lists: {}": "", "list: {}": `f.yaml:1:1: unknown key "list"`,
		"lists:\n  a: {about: x, files: ['/**/x', '/**/x']}":                               `f.yaml:2:34: "/**/x" is in the list already`,
		"lists:\n  a: {about: x, files: [x]}":                                              `f.yaml:2:25: it is not known where "x" lies`,
		"lists:\n  a: {about: x, files: ['/**/x*']}":                                       `f.yaml:2:25: "/**/x*" has no example`,
		"lists:\n  a: {about: x, files: [{glob: '/**/x*', is: /p/y}]}":                     `does not name "/p/y"`,
		"lists:\n  a: {about: x, files: [{glob: '/**/x*', is: /p/x, not: /p/xy}]}":         `names "/p/xy"`,
		"lists:\n  a: {about: x, files: [{glob: '/**/x*', is: /p/x, not: /p/y, or: z}]}":   `unknown key "or"`,
		"lists:\n  a: {files: ['/**/x']}":                                                  `"about" is missing`,
		"lists:\n  a: {about: x, files: [{glob: '~/.x/', is: /home/user/.x/y}, '/etc/x']}": "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, problems, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range problems {
			got = append(got, p.String())
		}
		if all := strings.Join(got, "\n"); want == "" && all != "" || !strings.Contains(all, want) {
			t.Errorf("%s: %s, want %s", text, all, want)
		}
	}
}
