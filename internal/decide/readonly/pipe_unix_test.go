//go:build unix

package readonly_test

import (
	"syscall"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/disk"
)

// A named pipe in the work causes no wait for its other end.
func TestNamedPipes(t *testing.T) {
	p := newPlace(t)
	if err := syscall.Mkfifo(p.project+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		d := p.decider()
		for _, a := range []cardea.Access{
			{Kind: cardea.Read, Path: p.project + "/pipe", Recursive: true},
			{Kind: cardea.Read, Path: p.project + "/pipe", Glob: true, Pattern: p.project + "/pipe/*"},
			{Kind: cardea.Read, Path: p.project, Recursive: true},
		} {
			d.Refusal(p.event(a), 0)
		}
		disk.PlainNames(p.project+"/pipe", true)
		disk.PlainNames(p.project, true)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for a named pipe")
	}
}
