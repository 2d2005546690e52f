//go:build linux || darwin

package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/command/redact"
)

func TestMadeFiles(t *testing.T) {
	s, folder := open(t)
	dir := t.TempDir()
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("%d.log", i)) }
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save := func(sess *Session) {
		t.Helper()
		if err := sess.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now().Add(-time.Second)
	for i := range maxMade + 1 {
		sess := load(t, s, "one")
		sess.Makes(name(i), begin)
		save(sess)
		write(name(i))
	}
	sess := load(t, s, "one")
	if sess.Made(name(0)) {
		t.Error("the oldest is forgotten")
	}
	if !sess.Made(name(1)) || !sess.Made(name(maxMade)) {
		t.Error("the others are kept")
	}
	if sess.Made(filepath.Join(dir, "other.log")) || load(t, s, "two").Made(name(1)) {
		t.Error("another file, or session")
	}
	save(sess)
	if err := os.Remove(name(1)); err != nil {
		t.Fatal(err)
	}
	write(name(1))
	if load(t, s, "one").Made(name(1)) {
		t.Error("another file under the same name")
	}
	late := load(t, s, "late")
	late.Makes(name(2), time.Now().Add(time.Hour))
	save(late)
	if load(t, s, "late").Made(name(2)) {
		t.Error("a file that was there before")
	}
	for _, file := range files(t, folder) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), dir) {
			t.Error("the path stands in the file")
		}
		forged := strings.Replace(string(data), `"begin":`, `"begin":-`, -1)
		if err := os.WriteFile(file, []byte(forged), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if load(t, s, "one").Made(name(3)) {
		t.Error("a time that was changed")
	}
}
