package disk

import (
	"os"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
)

// maxPlainNames is the number of entries that PlainNames reads, and maxNamesDepth the depth.
const (
	maxPlainNames = 4000
	maxNamesDepth = 12
)

// PlainNames reports whether each file name in an absolute folder, or in all folders
// below, is plain. A plain name begins with a letter, a digit or a dot. It holds nothing
// that xargs would split or a program would interpret: blanks, quotes, backslashes,
// colons. It returns false for folders that are too big.
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
