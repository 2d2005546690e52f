package peer

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// throughFolder names a socket through its folder, which it opens: paths below
// /proc/self/fd are short however long the folder's own is (proc_pid_fd(5)).
func throughFolder(path string, use func(name string) error) error {
	dir, name := filepath.Split(path)
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return use("/proc/self/fd/" + strconv.Itoa(fd) + "/" + name)
}
