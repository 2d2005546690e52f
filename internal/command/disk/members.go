package disk

import (
	"bufio"
	"bytes"
	"strings"
	"sync/atomic"

	"cardea.dev/internal/base/state"
)

// Limits of reading an archive or a patch: bytes of the file, and members.
const (
	maxArchive = 32 << 20
	MaxMembers = 20_000
)

// Unpacker returns the files of an archive, as it names them. all is false if data is no
// archive, or cannot be read to its end.
type Unpacker func(data []byte) (names []string, all bool)

// unpack reads the archives of this program, nil if it reads none.
var unpack Unpacker

// unread is set after an archive was not read because there is no unpacker.
var unread atomic.Bool

// Register sets the unpacker of the program and returns true. Call it before main. It is
// for package archives, which cardea-engine imports. The hook does not, since its tables
// would be built before main at every call (docs/decisions/engine-process.md).
func Register(u Unpacker) bool {
	unpack = u
	return true
}

// Unread reports whether an archive was not read because this program has no unpacker,
// so that its contents are unknown.
func Unread() bool { return unread.Load() }

// Members returns the files that an archive (tar, plain or packed with gzip or bzip2, and zip)
// or a patch writes, as it names them. It returns false if the file cannot be read to its end.
func Members(file string) ([]string, bool) {
	data, err := state.ReadLinked(file, maxArchive)
	switch {
	case err != nil:
		return nil, false
	case !isArchive(data):
		return patchMembers(data)
	case unpack == nil:
		unread.Store(true)
		return nil, false
	}
	return unpack(data)
}

// isArchive reports whether a file begins like an archive of zip, gzip, bzip2 or tar.
func isArchive(data []byte) bool {
	begins := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	return begins("PK") || begins("\x1f\x8b") || begins("BZh") || len(data) > 262 && string(data[257:262]) == "ustar"
}

// patchMembers returns the files of a unified or git diff, with and without the folders
// a/ and b/, since -p decides whether these apply.
func patchMembers(data []byte) ([]string, bool) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, false
	}
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxArchive)
	for lines.Scan() {
		line := lines.Text()
		for _, head := range []string{"+++ ", "--- ", "*** ", "rename from ", "rename to ", "copy to ", "Index: ", "diff --git "} {
			rest, ok := strings.CutPrefix(line, head)
			if !ok {
				continue
			}
			rest, _, _ = strings.Cut(rest, "\t")
			for _, name := range append(strings.Fields(rest), rest) {
				name = strings.Trim(name, `"`)
				names = append(names, name)
				for i := range name { // for any -p
					if name[i] == '/' {
						names = append(names, name[i+1:])
					}
				}
			}
		}
		if len(names) > MaxMembers {
			return nil, false
		}
	}
	return names, len(names) > 0 && lines.Err() == nil
}
