package remote

import (
	"io/fs"
	"os"
)

// written is always true: who may write a file is not in its mode here, and the
// folder's list says the same of both files.
func written(_, _ fs.FileInfo) bool { return true }

// environment is what the process gets of the environment: without this one
// variable no program starts properly.
func environment() []string { return []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} }
