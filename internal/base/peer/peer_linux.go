package peer

import "golang.org/x/sys/unix"

// peerOf returns the process that connected, or that began to listen.
func peerOf(fd int) (peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return peer{}, err
	}
	return peer{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}
