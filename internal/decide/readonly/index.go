package readonly

import (
	"bytes"
	"encoding/binary"
	"slices"

	"cardea.dev"
)

// contents reports whether a git command shows what files hold, and not only
// their names, who changed them and when. What it is not told about by name is
// taken for one that does.
func contents(p *cardea.Part) bool {
	if len(p.Command) < 2 {
		return false
	}
	switch p.Command[1] {
	case "status":
		return hasOption(p, "-v", "-vv", "--verbose")
	case "branch", "tag", "remote", "config", "rev-parse", "rev-list", "shortlog", "ls-files", "ls-tree", "describe", "name-rev", "for-each-ref", "show-ref",
		"show-branch", "merge-base", "cherry", "count-objects", "check-ignore", "check-attr", "check-ref-format", "check-mailmap", "symbolic-ref", "fsck", "worktree",
		"hash-object", "patch-id", "stripspace", "bisect", "notes", "sparse-checkout", "bundle", "replace", "verify-pack", "show-index", "apply", "version", "help":
		return false
	case "blame", "annotate":
		return false // of its operand alone, which is an access
	case "log", "reflog", "stash":
		return p.Command[1] == "stash" && len(p.Command) > 2 && p.Command[2] == "show" || patches(p)
	case "diff":
		return !onlyNames(p)
	}
	return true
}

// patches reports options with which git log shows patches (git-log(1), "Diff
// formatting").
func patches(p *cardea.Part) bool {
	for _, o := range p.Options {
		switch o.Name {
		case "-p", "-u", "--patch", "-U", "--unified", "--patch-with-raw", "--patch-with-stat", "-W", "--function-context", "--word-diff", "--word-diff-regex", "--color-words",
			"-L", "--check", "-c", "--cc", "-m", "--dd", "--remerge-diff", "--diff-merges", "--binary", "-a", "--text", "--color-moved", "--inter-hunk-context", "--full-index":
			return true
		}
	}
	return false
}

func hasOption(p *cardea.Part, names ...string) bool {
	return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(names, o.Name) })
}

// onlyNames reports options with which git diff says which files differ, and not
// how. Git show shows what a blob holds whatever its options say.
func onlyNames(p *cardea.Part) bool {
	names := false
	for _, o := range p.Options {
		switch o.Name {
		case "--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--name-only", "--name-status", "--raw", "-s", "--no-patch", "--quiet", "--compact-summary":
			names = true
		}
	}
	return names && !patches(p)
}

// index is an index of git (gitformat-index(5), versions 2 to 4), and how long
// the name of an object is in it, in bytes.
type index struct {
	data []byte
	hash int
}

// secrets reports whether it may list a file whose name is that of a secret.
// Names that only end like a key do not count: keys of tests are tracked
// everywhere.
func (x index) secrets() bool {
	return x.any(func(name string, mode uint32) bool { return mode == folder || secretPath("/"+name) && !keyLike(name) })
}

// links reports whether it may link to another repository.
func (x index) links() bool {
	return x.any(func(_ string, mode uint32) bool { return mode == gitlink })
}

// any reports whether one of the files may be such: an index that cannot be
// read to its end, or keeps a part of itself elsewhere, may list anything.
func (x index) any(such func(name string, mode uint32) bool) bool {
	const header, mode, fixed = 12, 24, 40
	if len(x.data) < header || string(x.data[:4]) != "DIRC" {
		return true
	}
	version, count := binary.BigEndian.Uint32(x.data[4:]), binary.BigEndian.Uint32(x.data[8:])
	if version < 2 || version > 4 {
		return true
	}
	at, name := header, ""
	for ; count > 0; count-- {
		start := at
		if at += fixed + x.hash + 2; at+2 > len(x.data) {
			return true
		}
		if binary.BigEndian.Uint16(x.data[at-2:])&more != 0 {
			at += 2
		}
		keep := 0
		if version == 4 {
			strip, n := offset(x.data[at:])
			if n == 0 || strip > len(name) {
				return true
			}
			keep, at = len(name)-strip, at+n
		}
		end := bytes.IndexByte(x.data[at:], 0)
		if end < 0 {
			return true
		}
		name = name[:keep] + string(x.data[at:at+end])
		if at += end + 1; version < 4 {
			at = start + (at-start+7)/8*8
		}
		if such(name, binary.BigEndian.Uint32(x.data[start+mode:])) {
			return true
		}
	}
	return x.extended(at)
}

// extended reports whether behind the entries there is anything but extensions
// that say nothing about files: cached trees, conflicts, untracked files and the
// file system's monitor.
func (x index) extended(at int) bool {
	end := len(x.data) - x.hash
	for at < end {
		if at+8 > end {
			return true
		}
		switch string(x.data[at : at+4]) {
		case "TREE", "REUC", "UNTR", "FSMN":
		default:
			return true
		}
		size := binary.BigEndian.Uint32(x.data[at+4:])
		if uint64(at)+8+uint64(size) > uint64(end) {
			return true
		}
		at += 8 + int(size)
	}
	return at != end
}

// maxIndex bounds the index that is looked through, in bytes.
const maxIndex = 8 << 20

// What stands in an entry: the modes of a link to another repository and of a
// folder that is not checked out, and the flag of an entry with more flags.
const (
	gitlink = 0o160000
	folder  = 0o040000
	more    = 0x4000
)

// offset reads a number as packs write offsets (gitformat-pack(5)), and tells
// how many bytes it took; none where it does not end.
func offset(b []byte) (value, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		n++
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}
