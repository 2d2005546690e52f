package peer

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

// accepted returns the server's side of a connection.
func accepted(t *testing.T, network, address string, connect func(to string)) net.Conn {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go connect(l.Addr().String())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestCallerOf(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		conn := accepted(t, "tcp", address, func(to string) {
			c, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		})
		c, err := CallerOf(conn)
		if err != nil || c.UID != os.Getuid() {
			t.Fatalf("%s: %+v, %v", address, c, err)
		}
		if pid, err := c.PID(); err != nil || pid != os.Getpid() {
			t.Errorf("%s: process %d, %v", address, pid, err)
		}
	}
}

// TestCallerIsAnotherProcess checks that a process is found by its own socket, not by one
// with the same port.
func TestCallerIsAnotherProcess(t *testing.T) {
	var child *exec.Cmd
	started := make(chan bool, 1)
	conn := accepted(t, "tcp4", "127.0.0.1:0", func(to string) {
		_, port, _ := net.SplitHostPort(to)
		child = exec.Command("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+port+"; read -r -u 3 x")
		started <- child.Start() == nil
	})
	if !<-started {
		t.Fatal("bash does not start")
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	c, err := CallerOf(conn)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := c.PID(); err != nil || pid != child.Process.Pid {
		t.Errorf("process %d, %v, not %d", pid, err, child.Process.Pid)
	}
}

// TestCallerHasGone checks that a closed caller and a connection other than TCP have no
// process.
func TestCallerHasGone(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := CallerOf(a); err == nil {
		t.Error("a pipe has a caller")
	}
	if pid, err := (Caller{UID: os.Getuid(), socket: "socket:[0]"}).PID(); err == nil {
		t.Errorf("process %d has no socket", pid)
	}
}
