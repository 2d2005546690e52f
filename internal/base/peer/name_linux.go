package peer

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// throughFolder opens the folder of a socket and calls use with a short name for the
// socket. Paths below /proc/self/fd are short regardless of the folder's own path
// (proc_pid_fd(5)).
func throughFolder(path string, use func(name string) error) error {
	dir, name := filepath.Split(path)
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return use("/proc/self/fd/" + strconv.Itoa(fd) + "/" + name)
}
