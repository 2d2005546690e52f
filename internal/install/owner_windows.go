package install

import "os"

// keepOwner does nothing: a new file gets its rights from its folder.
func keepOwner(*os.File, string) error { return nil }

// othersMayWrite is not told by the mode bits on Windows.
func othersMayWrite(os.FileInfo) bool { return false }
