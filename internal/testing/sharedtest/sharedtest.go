// Package sharedtest finds test data that is not part of the repository. The variable
// CARDEA_SHARED names its folder, or is "require" for a folder named shared next to the
// repository. Without the variable the tests use our own small files in testdata, or are
// skipped.
//
// A named folder must have all that the tests need: a missing folder or file fails the test.
package sharedtest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Available reports whether the shared data is available. Without it, tests expect fewer cases.
func Available(t testing.TB) bool {
	t.Helper()
	return folder(t) != ""
}

// folder returns the folder of the data, or "" without the variable.
func folder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("CARDEA_SHARED")
	if dir == "require" {
		dir = filepath.Join(root(t), "..", "shared")
	}
	if dir != "" && !exists(t, dir) {
		t.Fatalf("CARDEA_SHARED=%s, and there is no folder %s", os.Getenv("CARDEA_SHARED"), dir)
	}
	return dir
}

// Path returns the path of a file or folder of the data. It skips the test if neither
// the data nor a file of our own exists.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	name := filepath.Join(elem...)
	if dir := folder(t); dir != "" {
		file := filepath.Join(dir, name)
		if !exists(t, file) {
			t.Fatalf("%s is missing from the shared test data", name)
		}
		return file
	}
	file := filepath.Join(root(t), "internal", "sharedtest", "testdata", name)
	if !exists(t, file) {
		t.Skipf("needs %s of the shared test data, which is not part of the repository", name)
	}
	return file
}

// Read returns the contents of a file of the data.
func Read(t testing.TB, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(Path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ReadJSON reads a JSON file of the data into v.
func ReadJSON(t testing.TB, v any, elem ...string) {
	t.Helper()
	if err := json.Unmarshal(Read(t, elem...), v); err != nil {
		t.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
}

// Line is a command line of a corpus.
type Line struct {
	Command string
	// Class is the expected answer of a gate: DENY, ASK or ALLOW in tricky.tsv, autoallow
	// or notallow in dippy-half.tsv.
	Class string
	// Note is the reason.
	Note string
}

// Corpus reads a corpus of command lines. It fails the test if the shared data has fewer
// than enough.
func Corpus(t testing.TB, name string, enough int) []Line {
	t.Helper()
	var out []Line
	for row := range strings.Lines(string(Read(t, "corpus", name))) {
		cols := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(cols) < 2 || strings.HasPrefix(row, "# ") {
			continue
		}
		class, note, _ := strings.Cut(cols[1], ":")
		out = append(out, Line{Command: Unescape(cols[0]), Class: class, Note: strings.TrimSpace(note)})
	}
	if len(out) == 0 || Available(t) && len(out) < enough {
		t.Fatalf("%s has %d lines only", name, len(out))
	}
	return out
}

// Unescape reads the escapes of a corpus: \\ \n \t \r \uXXXX.
func Unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			digits := s[i+1 : min(i+5, len(s))]
			n, err := strconv.ParseUint(digits, 16, 32)
			if err != nil || len(digits) < 4 {
				b.WriteString(`\u`)
				continue
			}
			b.WriteRune(rune(n))
			i += 4
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// root returns the folder of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !exists(t, filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func exists(t testing.TB, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
