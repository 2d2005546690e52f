package release

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// byTag holds actions whose commit was not verified. The list may only get shorter.
var byTag = []string{"github/codeql-action/upload-sarif@v3"}

// TestWorkflows checks that workflows name actions by commit with the version next to it,
// and have only the rights that they request.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	uses := regexp.MustCompile(`uses: +(\S+)(.*)`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			if !pinned.MatchString(m[1]+m[2]) && !slices.Contains(byTag, m[1]) {
				t.Errorf("%s: %s%s", file, m[1], m[2])
			}
		}
		head, _, _ := strings.Cut(string(text), "\njobs:")
		if !strings.Contains(head, "\npermissions: {}\n") && !strings.Contains(head, "\npermissions:\n  contents: read\n") {
			t.Errorf("%s has no permissions of its own", file)
		}
		if strings.Contains(string(text), "pull_request_target") {
			t.Errorf("%s runs what others send with the rights of the project", file)
		}
	}
}
