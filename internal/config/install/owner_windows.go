package install

import "os"

// keepOwner does nothing: a new file gets its rights from its folder.
func keepOwner(*os.File, string) error { return nil }

// ofAnother is not told by the mode bits on Windows.
func ofAnother(string) bool { return false }

// othersMayWrite is not told by the mode bits on Windows.
func othersMayWrite(os.FileInfo) bool { return false }
