package install

import "os"

// keepOwner does nothing: a new file inherits the rights of its folder.
func keepOwner(*os.File, string) error { return nil }

// ofAnother returns false: on Windows, mode bits do not show the owner.
func ofAnother(string) bool { return false }

// othersMayWrite returns false: on Windows, mode bits do not show it.
func othersMayWrite(os.FileInfo) bool { return false }
