package packs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the longest line of a YAML file.
const maxColumns = 140

// Lines are short enough to read and to merge.
func TestLinesAreShort(t *testing.T) {
	files, err := filepath.Glob("commands/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.SplitSeq(string(data), "\n") {
			if n++; utf8.RuneCountInString(line) > maxColumns {
				t.Errorf("%s:%d has more than %d columns", file, n, maxColumns)
			}
		}
	}
}
