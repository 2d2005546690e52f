package knowledge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
)

// TestFinds compares Finds with find itself: Finds covers each file that find reaches,
// and excludes most of those it does not.
func TestFinds(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range []string{".env", "a.md", "src/a.go", "src/.env", "src/deep/b.pem", "node_modules/x/.env", "node_modules/x/b.md", "d.pem/x", ".git/config"} {
		file := filepath.Join(dir, name)
		files = append(files, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, surplus := range map[string]int{
		"find .": 0, "find . -type f": 0, "find . -name '*.md'": 0, "find . ! -name .env": 0, "find . -not -name '.env' -type f -print": 0, "find . -maxdepth 1 -type f": 0,
		"find src -iname '*.GO'": 0, "find . -path ./node_modules -prune -o -type f -print": 0, "find . -name node_modules -prune -o -name .env -print": 0,
		`find . \( -name node_modules -o -name .git \) -prune -o -type f -print`: 0, `find . -type f ! \( -name .env -o -name '*.pem' \)`: 0, "find . -type d -name src -prune -o -print": 0,
		"find . -not -path '*/node_modules/*' -type f": 0, "find ./src . -name '*.pem'": 0, "find . -name '*.md' -o -name '*.go'": 0, "find . -name '*.md' , -name .env": 0,
		"find . -depth -name node_modules -prune -o -type f -print": 0, "find . -size +1k -name .env": 3,
		"find . -name .env -print -o -name '*.md'": 0, "find . -false": 9, "find . -name .env -print -name nothing": 0, "find src/ -name a.go": 0, "find . -wholename './src/*'": 0,
	} {
		p := bash.Analyse(line, bash.Env{Cwd: dir}).Parts[0]
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var real []string
		for name := range strings.Lines(string(out)) {
			real = append(real, filepath.Join(dir, strings.TrimSpace(name)))
		}
		more := 0
		for _, f := range files {
			may, surely := knowledge.Finds(&p, f, nil)
			if found := slices.Contains(real, f); found && !may {
				t.Errorf("%s finds %s", line, f)
			} else if may && !found {
				more++
				if surely {
					t.Errorf("%s does not find %s", line, f)
				}
			}
		}
		if more != surplus {
			t.Errorf("%s: %d more files may be found, want %d", line, more, surplus)
		}
	}
}
