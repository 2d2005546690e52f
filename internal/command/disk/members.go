package disk

import (
	"bufio"
	"bytes"
	"strings"
	"sync/atomic"

	"cardea.dev/internal/base/state"
)

// An archive or a patch is read so far: bytes of the file, and members.
const (
	maxArchive = 32 << 20
	MaxMembers = 20_000
)

// Unpacker lists the files of an archive, as it names them; false where it cannot be
// read to its end, or is none.
type Unpacker func(data []byte) (names []string, all bool)

// unpack reads the archives of this program, nil where it reads none.
var unpack Unpacker

// unread is set where an archive was not read, since there is no unpacker.
var unread atomic.Bool

// Register gives the program an unpacker. It is for package archives, which
// cardea-engine imports; the hook does not, since its tables are made before main at
// every call (docs/decisions/0109). It is to be called before main, and gives true.
func Register(u Unpacker) bool {
	unpack = u
	return true
}

// Unread reports whether an archive was not read, since this program has no unpacker:
// what it holds is not known.
func Unread() bool { return unread.Load() }

// Members are the files that an archive (tar, plain or packed with gzip or bzip2, and
// zip) or a patch writes, as it names them; false where it cannot be read to its end.
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

// isArchive reports whether a file begins as an archive of zip, gzip, bzip2 or tar does.
func isArchive(data []byte) bool {
	begins := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	return begins("PK") || begins("\x1f\x8b") || begins("BZh") || len(data) > 262 && string(data[257:262]) == "ustar"
}

// patchMembers are the files of a unified or git diff, without the folders a/ and b/
// as well, since -p decides whether they count.
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
				for i := range name { // whatever -p takes off
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
