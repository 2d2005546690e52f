package testrun

import (
	"os"
	"strings"
	"testing"
)

// Lines are the commands of a table, one a line. A here-document ends at a line E.
func Lines(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	open := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case open:
			out[len(out)-1] += "\n" + line
			open = line != "E"
		case line == "" || strings.HasPrefix(line, "#"):
		default:
			out = append(out, line)
			open = strings.Contains(line, "<<")
		}
	}
	return out
}
