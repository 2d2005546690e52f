// Package gitindex reads which files git tracks. It does not start git: a hook must not start
// programs, and git runs commands from the configuration of the folder in which it runs.
//
// An index may be crafted. The package reports every byte that it cannot interpret, and the
// caller decides what that means.
package gitindex

import (
	"bytes"
	"encoding/binary"
)

// Index is an index of git (gitformat-index(5), versions 2 to 4).
type Index struct {
	// Data is the file.
	Data []byte
	// Hash is the length in bytes of the name of an object: 20 or 32.
	Hash int
}

// Found is the result of a search in an index.
type Found struct {
	// Such is set if an entry matched.
	Such bool
	// Broken is set if the index cannot be read to its end.
	Broken bool
	// Elsewhere is set if it has an extension that may add entries, or let git read them in
	// another order (split and sparse indexes, offsets of entries), or an unknown one.
	Elsewhere bool
}

// Modes of entries that are not files: links to other repositories, and folders that are
// not checked out.
const (
	Link   uint32 = 0o160000
	Folder uint32 = 0o040000
)

// more is the flag of an entry with more flags.
const more = 0x4000

// Find searches for an entry for which such holds, given its path from the root of the
// working tree and its mode.
func (x Index) Find(such func(name string, mode uint32) bool) Found {
	const header, mode, fixed = 12, 24, 40
	if len(x.Data) < header || string(x.Data[:4]) != "DIRC" {
		return Found{Broken: true}
	}
	version, count := binary.BigEndian.Uint32(x.Data[4:]), binary.BigEndian.Uint32(x.Data[8:])
	if version < 2 || version > 4 {
		return Found{Broken: true}
	}
	at, name := header, ""
	for ; count > 0; count-- {
		start := at
		if at += fixed + x.Hash + 2; at+2 > len(x.Data) {
			return Found{Broken: true}
		}
		if binary.BigEndian.Uint16(x.Data[at-2:])&more != 0 {
			at += 2
		}
		keep := 0
		if version == 4 { // the bytes that stay of the previous name
			strip, n := offset(x.Data[at:])
			if n == 0 || strip > len(name) {
				return Found{Broken: true}
			}
			keep, at = len(name)-strip, at+n
		}
		end := bytes.IndexByte(x.Data[at:], 0)
		if end < 0 {
			return Found{Broken: true}
		}
		name = name[:keep] + string(x.Data[at:at+end])
		if at += end + 1; version < 4 {
			at = start + (at-start+7)/8*8
		}
		if such(name, binary.BigEndian.Uint32(x.Data[start+mode:])) {
			return Found{Such: true}
		}
	}
	return x.extensions(at)
}

// extensions reads the extensions after the entries. Cached trees, conflicts, untracked
// files and the file system's monitor do not affect entries.
func (x Index) extensions(at int) Found {
	end := len(x.Data) - x.Hash
	for at < end {
		if at+8 > end {
			return Found{Broken: true}
		}
		var found Found
		switch string(x.Data[at : at+4]) {
		case "TREE", "REUC", "UNTR", "FSMN":
		default:
			found.Elsewhere = true
		}
		size := binary.BigEndian.Uint32(x.Data[at+4:])
		if uint64(at)+8+uint64(size) > uint64(end) {
			return Found{Broken: true}
		}
		if found.Elsewhere {
			return found
		}
		at += 8 + int(size)
	}
	return Found{Broken: at != end}
}

// offset reads a number as packs write offsets (gitformat-pack(5)), and returns how many
// bytes it used, or 0 if the number does not end.
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
