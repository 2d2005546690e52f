package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"cardea.dev/internal/hook/control"
)

// A purge ends the process that listens at the daemon's socket, and no other.
func TestEndDaemon(t *testing.T) {
	if path := os.Getenv("TEST_LISTEN"); path != "" {
		listener, err := net.Listen("unix", path)
		for err == nil {
			_, err = listener.Accept()
		}
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "daemon")
	if err := os.Chmod(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestEndDaemon$")
	c.Env = append(os.Environ(), "TEST_LISTEN="+socket)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for !control.Listens(socket) {
		select {
		case err := <-ended:
			t.Fatalf("it did not listen: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := endDaemon(socket); err != nil {
		_ = c.Process.Kill()
		t.Fatal(err)
	}
	if err := <-ended; err == nil || control.Listens(socket) {
		t.Errorf("it did not end by a signal: %v", err)
	}
	if err := endDaemon(socket); err == nil {
		t.Error("what is not there was ended")
	}
}
