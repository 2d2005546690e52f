package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Simultaneous calls share what they saw of folders. A call after a file was written or
// removed uses the new state, however many other calls run.
func TestTogether(t *testing.T) {
	p := newPlace(t)
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := p.ask("PreToolUse", bash("ls own")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	expect := func(when, word string) {
		t.Helper()
		a, err := p.ask("PreToolUse", bash("ls own"))
		if err != nil || !strings.Contains(string(a.Stdout), `"permissionDecision":"`+word+`"`) {
			t.Errorf("%s: not %s: %s, %v", when, word, a.Stdout, err)
		}
	}
	const rule = "rules: [{id: own, tool: Bash, match: {command: ls own}, effect: deny, message: no}]\n"
	folder, link := filepath.Join(p.work, ".cardea"), filepath.Join(p.home, ".config/cardea")
	elsewhere := filepath.Join(filepath.Dir(p.home), "elsewhere")
	p.write(filepath.Join(elsewhere, "rules/own.yaml"), rule)
	for range 25 {
		expect("before", "allow")
		p.write(filepath.Join(folder, "rules/own.yaml"), rule)
		expect("a folder of rules is new", "deny")
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		expect("it is gone", "allow")
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, link); err != nil {
			t.Fatal(err)
		}
		expect("a link to rules is new", "deny")
		if err := os.RemoveAll(filepath.Dir(link)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	all.Wait()
}
