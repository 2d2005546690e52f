package remote

import "io/fs"

// written returns true. On Windows the mode does not show who may write a file, and both
// files have the access list of the folder.
func written(_, _ fs.FileInfo) bool { return true }
