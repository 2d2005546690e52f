//go:build !linux

package peer

import "fmt"

// throughFolder returns an error: this system has no short name for a long path.
func throughFolder(path string, _ func(name string) error) error {
	return fmt.Errorf("the path %s is longer than a socket's may be (%d bytes); set XDG_RUNTIME_DIR to a short folder", path, longestName)
}
