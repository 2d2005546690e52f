package disk

import (
	"os"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
)

// maxPlainNames bounds how many entries PlainNames looks at, and how deep.
const (
	maxPlainNames = 4000
	maxNamesDepth = 12
)

// PlainNames reports whether each name of a file in an absolute folder, or in all below
// it, begins with a letter, a digit or a dot and holds nothing that xargs would take apart or a
// program for more than a name: blanks, quotes, backslashes, colons. Folders
// that are too big to be looked through are not plain.
func PlainNames(folder string, below bool) bool {
	left, depth := maxPlainNames, 1
	if below {
		depth = maxNamesDepth
	}
	return plainNames(folder, below, depth, &left)
}

func plainNames(folder string, below bool, depth int, left *int) bool {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return os.IsNotExist(err) || err == nil && info.Mode().IsRegular()
	}
	entries, err := state.Entries(folder, *left+1)
	if *left -= len(entries); *left < 0 || depth == 0 || err != nil {
		return false
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return !plainName(e.Name()) || below && e.IsDir() && !plainNames(folder+"/"+e.Name(), below, depth-1, left)
	})
}

func plainName(name string) bool {
	return strings.Trim(name[:1], letters+".") == "" && strings.Trim(name, letters+".-+,=@()[]{}$&") == ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
