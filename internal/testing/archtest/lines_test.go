package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// longestLine is the number of characters that a line of a test or of its data may have,
// so that a person can review it.
const longestLine = 200

// longLines are the files with longer lines: patterns of paths below the module, where a
// folder stands for all files below it, and why.
var longLines = []struct{ files, why string }{
	{"testdata/script/*.txtar", "a command of a script, with the message or the settings that it is given, is one line"},
	{"testdata/earlier-state", "the files are as earlier versions wrote them"},
	{"testdata/judge/calls.jsonl", "a call with its context is one line of JSON"},
	{"testdata/holes/rows.tsv", "a row has its set-up as JSON"},
	{"testdata/holes/setups.json", "a list of permissions is one line"},
	{"testdata/walls/constants.txt", "a line for a shell has its harmless twin on the same line"},
	{"packs/testdata/no-entry.txt", "the lines are lists of names"},
	{"internal/memory/embedding/testdata/pieces.tsv", "a row has a text of several sentences and its pieces"},
	{"internal/command/redact/testdata/planted.tsv", "a row has a whole key"},
	{"internal/harness/testdata", "the messages are as the harness sent them"},
	{"internal/harness/dialect/testdata/messages", "the messages are as the harness sent them"},
	{"internal/memory/transcript/testdata", "the transcripts are as the harness wrote them"},
}

// TestLinesAreReviewable checks that each case has a line of its own: tests and their data
// have no long lines.
func TestLinesAreReviewable(t *testing.T) {
	used := map[string]bool{}
	root := "../../.."
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, file)
		if name = filepath.ToSlash(name); err != nil || !strings.HasSuffix(name, "_test.go") && !strings.Contains("/"+name, "/testdata/") {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil || !utf8.Valid(data) {
			return err
		}
		n := 0
		for line := range strings.Lines(string(data)) {
			if n++; utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) <= longestLine {
				continue
			}
			if pattern := longLine(name); pattern != "" {
				used[pattern] = true
				break
			}
			t.Errorf("%s:%d has more than %d characters: put each case on a line, such as in a table that internal/testing/testrun reads", name, n, longestLine)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range longLines {
		if !used[x.files] {
			t.Errorf("no file of %s has a long line", x.files)
		}
	}
}

// longLine returns the pattern of the exceptions that a file matches, or "".
func longLine(name string) string {
	for _, x := range longLines {
		if ok, err := path.Match(x.files, name); ok && err == nil || strings.HasPrefix(name, x.files+"/") {
			return x.files
		}
	}
	return ""
}
