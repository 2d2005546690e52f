package lesson

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"

	"cardea.dev/internal/base/state"
)

// The state folder lists the lines of a shared folder that this user's Cardea wrote or the person
// accepted: the id of each with a signature for the folder. The list begins with a number, which
// changes when a line is removed from it. The index's knowledge of the user's own lines is valid
// while the number is the same.
const (
	ownPurpose    = "a lesson of one's own"
	numberPurpose = "number of a list of lessons"
	// ownSize is the size of an entry of the list, in bytes.
	ownSize = len(ID{}) + state.SignatureSize
	// maxOwn is the largest size of the list, in bytes: a million lessons.
	maxOwn = 1 << 20 * ownSize
)

// ownPath returns the path of a folder's list, or "" without a state folder or key.
func (p *ScopeFolder) ownPath() string {
	if p.State == "" || len(p.Key) != state.KeySize {
		return ""
	}
	return filepath.Join(p.State, "lessons", p.name()+".own")
}

func (p *ScopeFolder) ownEntry(id ID) []byte {
	return append(id[:], state.Sign(p.Key, ownPurpose, []byte(p.Dir), id[:])...)
}

// newOwn returns the beginning of a new list.
func (p *ScopeFolder) newOwn() []byte {
	number := make([]byte, len(ID{}))
	_, _ = rand.Read(number) // ends the process rather than fail
	return append(number, state.Sign(p.Key, numberPurpose, []byte(p.Dir), number)...)
}

// ownNumber returns the number of the list, or "" for a missing or forged list.
func (p *ScopeFolder) ownNumber() string {
	path := p.ownPath()
	if path == "" {
		return ""
	}
	f, _, err := state.Open(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, ownSize)
	if _, err := io.ReadFull(f, b); err != nil || !p.numbers(b) {
		return ""
	}
	return hex.EncodeToString(b[:len(ID{})])
}

// numbers reports whether a list begins with a signed number for this folder.
func (p *ScopeFolder) numbers(b []byte) bool {
	const at = len(ID{})
	return len(b) >= ownSize && state.Signed(p.Key, b[at:ownSize], numberPurpose, []byte(p.Dir), b[:at])
}

// ownLines returns a function that reports whether a line is the user's own. It checks a signature
// only when a line is asked about.
func (p *ScopeFolder) ownLines() func(ID) bool {
	if !p.Shared || p.ownPath() == "" {
		return func(ID) bool { return false }
	}
	data, err := state.Read(p.ownPath(), int64(maxOwn))
	if err != nil || !p.numbers(data) {
		return func(ID) bool { return false }
	}
	at := make(map[uint64][]int, len(data)/ownSize)
	for i := ownSize; i+ownSize <= len(data); i += ownSize {
		short := binary.BigEndian.Uint64(data[i:])
		at[short] = append(at[short], i)
	}
	return func(id ID) bool {
		return slices.ContainsFunc(at[binary.BigEndian.Uint64(id[:])], func(i int) bool {
			return ID(data[i:i+len(id)]) == id && state.Signed(p.Key, data[i+len(id):i+ownSize], ownPurpose, []byte(p.Dir), id[:])
		})
	}
}
