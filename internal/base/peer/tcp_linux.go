package peer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
)

var errUnseen = errors.New("the other end of the connection is no process that can be seen from here")

// CallerOf returns the caller of a connection from this machine, found in the kernel's
// tables of TCP sockets (proc(5), /proc/net/tcp and tcp6).
func CallerOf(conn net.Conn) (Caller, error) {
	caller, here, err := ends(conn)
	if err != nil {
		return Caller{}, err
	}
	tables := []struct {
		file string
		form func(netip.Addr) []byte
	}{{"/proc/self/net/tcp", bytesOf4}, {"/proc/self/net/tcp6", bytesOf6}}
	for _, t := range tables {
		from, to := t.form(caller.Addr()), t.form(here.Addr())
		if from == nil {
			continue
		}
		found, err := search(t.file, written(from, caller.Port()), written(to, here.Port()))
		if err != nil && !os.IsNotExist(err) {
			return Caller{}, fmt.Errorf("look up who connected: %w", err)
		}
		if found.socket != "" {
			return found, nil
		}
	}
	return Caller{}, errUnseen
}

func bytesOf4(a netip.Addr) []byte {
	if !a.Is4() {
		return nil
	}
	return a.AsSlice()
}

// bytesOf6 maps IPv4 addresses to IPv6, as IPv6 sockets show them.
func bytesOf6(a netip.Addr) []byte {
	b := a.As16()
	return b[:]
}

// written returns an address as the tables write it: 4-byte words in the byte order of the
// machine, in hex, and the port.
func written(addr []byte, port uint16) string {
	swapped := make([]byte, len(addr))
	for i := 0; i < len(addr); i += 4 {
		binary.BigEndian.PutUint32(swapped[i:], binary.NativeEndian.Uint32(addr[i:]))
	}
	return strings.ToUpper(hex.EncodeToString(swapped)) + fmt.Sprintf(":%04X", port)
}

// maxTable limits how much of a table is read, in bytes: over 100 000 sockets.
const maxTable = 32 << 20

// search returns the socket with these two ends. At most one exists.
func search(file, from, to string) (c Caller, err error) {
	f, err := os.Open(file)
	if err != nil {
		return c, err
	}
	defer f.Close()
	both := []byte(" " + from + " " + to + " ")
	lines := bufio.NewScanner(io.LimitReader(f, maxTable))
	lines.Buffer(make([]byte, 0, 64<<10), 64<<10)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), both) {
			continue
		}
		// sl local rem st queues timer retransmissions uid timeout inode
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[9] == "0" {
			continue
		}
		uid, err := strconv.Atoi(fields[7])
		if err != nil {
			continue
		}
		return Caller{UID: uid, socket: "socket:[" + fields[9] + "]"}, nil
	}
	return c, lines.Err()
}

// PID returns a process that has the caller's socket open; if several do, any of them. It
// reads the open files of all processes of the user, which takes milliseconds.
func (c Caller) PID() (int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(256)
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil && c.has(name) {
				return pid, nil
			}
		}
		if err == io.EOF {
			return 0, errUnseen
		}
		if err != nil {
			return 0, err
		}
	}
}

// has reports whether a process has the socket open.
func (c Caller) has(pid string) bool {
	folder := "/proc/" + pid
	var at syscall.Stat_t
	if syscall.Stat(folder, &at) != nil || int(at.Uid) != c.UID {
		return false
	}
	dir, err := os.Open(folder + "/fd")
	if err != nil {
		return false
	}
	defer dir.Close()
	var link [64]byte
	for {
		names, err := dir.Readdirnames(256)
		for _, fd := range names {
			n, err := syscall.Readlink(folder+"/fd/"+fd, link[:])
			if err == nil && string(link[:n]) == c.socket {
				return true
			}
		}
		if err != nil {
			return false
		}
	}
}
