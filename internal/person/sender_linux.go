package person

import "golang.org/x/sys/unix"

// sender is the process that made the other end of standard input, 0 where that is no
// socket of this machine.
func sender() int {
	cred, err := unix.GetsockoptUcred(0, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || cred.Pid <= 0 {
		return 0
	}
	return int(cred.Pid)
}
