package scan

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/command/redact"
)

// BenchmarkSource searches files of Go's standard library.
func BenchmarkSource(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http", "*.go"))
	if err != nil || len(files) == 0 {
		b.Fatal("there is no source to search", err)
	}
	var texts [][]byte
	size := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		texts, size = append(texts, data), size+len(data)
	}
	r := redact.New()
	b.SetBytes(int64(size))
	for b.Loop() {
		for i, t := range texts {
			searchFile(r, files[i], t)
		}
	}
}
