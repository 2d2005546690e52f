//go:build !linux

package control

// StampOf is "": this system does not tell which program is at the other end of a socket,
// so there is no daemon.
func StampOf(string) string { return "" }
