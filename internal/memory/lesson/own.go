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

// The lines of a shared folder that this user's Cardea wrote, or the person accepted,
// are listed in the state folder: the id of each with a signature for the folder. The
// list begins with a number of its own, which changes when a line is taken from it: what
// an index says of the user's own lines holds as long as the number is the same.
const (
	ownPurpose    = "a lesson of one's own"
	numberPurpose = "number of a list of lessons"
	// ownSize is the size of an entry of the list.
	ownSize = len(ID{}) + state.SignatureSize
	// maxOwn bounds the list, in bytes: a million lessons.
	maxOwn = 1 << 20 * ownSize
)

// ownPath is where the list of a folder lies, "" where there is none.
func (p *Place) ownPath() string {
	if p.State == "" || len(p.Key) != state.KeySize {
		return ""
	}
	return filepath.Join(p.State, "lessons", p.name()+".own")
}

func (p *Place) ownEntry(id ID) []byte {
	return append(id[:], state.Sign(p.Key, ownPurpose, []byte(p.Dir), id[:])...)
}

// newOwn is the beginning of a list.
func (p *Place) newOwn() []byte {
	number := make([]byte, len(ID{}))
	_, _ = rand.Read(number) // ends the process rather than fail
	return append(number, state.Sign(p.Key, numberPurpose, []byte(p.Dir), number)...)
}

// ownNumber is the number of the list, "" where there is none.
func (p *Place) ownNumber() string {
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

// numbers reports whether a list begins as one of this folder.
func (p *Place) numbers(b []byte) bool {
	const at = len(ID{})
	return len(b) >= ownSize && state.Signed(p.Key, b[at:ownSize], numberPurpose, []byte(p.Dir), b[:at])
}

// ownLines says which lines are the user's own. Signatures are compared for those that
// are asked about.
func (p *Place) ownLines() func(ID) bool {
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
