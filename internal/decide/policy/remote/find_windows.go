package remote

import "io/fs"

// written is always true: who may write a file is not in its mode here, and the
// folder's list says the same of both files.
func written(_, _ fs.FileInfo) bool { return true }
