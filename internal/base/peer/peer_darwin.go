package peer

import "golang.org/x/sys/unix"

// peerOf returns the process that connected, or that began to listen.
func peerOf(fd int) (peer, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return peer{}, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return peer{uid: int(cred.Uid), pid: pid}, err
}
