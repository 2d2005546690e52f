package call

import (
	"os"
	"strings"
)

// maxTame bounds how many entries Tame looks at, and how deep.
const (
	maxTame      = 4000
	maxTameDepth = 12
)

// Tame reports whether each name of a file in an absolute folder, or in all below
// it, begins with a letter, a digit or a dot and holds nothing that xargs would take apart or a
// program for more than a name: blanks, quotes, backslashes, colons. Folders
// that are too big to be looked through are not tame.
func Tame(folder string, below bool) bool {
	left, depth := maxTame, 1
	if below {
		depth = maxTameDepth
	}
	return tame(folder, below, depth, &left)
}

func tame(folder string, below bool, depth int, left *int) bool {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		// Opening a pipe would wait for somebody to write into it.
		return os.IsNotExist(err) || err == nil && info.Mode().IsRegular()
	}
	f, err := os.Open(folder)
	if err != nil {
		return false
	}
	entries, err := f.ReadDir(*left + 1)
	f.Close()
	if *left -= len(entries); *left < 0 || depth == 0 || err != nil && len(entries) > 0 {
		return false
	}
	for _, e := range entries {
		if !tameName(e.Name()) || below && e.IsDir() && !tame(folder+"/"+e.Name(), below, depth-1, left) {
			return false
		}
	}
	return true
}

func tameName(name string) bool {
	return strings.Trim(name[:1], letters+".") == "" && strings.Trim(name, letters+".-+,=@()[]{}$&") == ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
