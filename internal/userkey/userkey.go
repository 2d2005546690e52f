// Package userkey keeps the one key with which a person's Cardea signs what it
// will believe later: the manifest of a trusted project, last good forms of
// files, the lines of the ledger. It tells what this user's Cardea wrote from
// what a project, a clone or another user put in its place.
//
// It is no secret from programs of the same user: they can read the file. The
// threat model says so; against them the wall is a root-owned system scope.
package userkey

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Size is the length of the key in bytes.
const Size = 32

// Load gives the key of a state folder, and makes it where there is none. Of
// several processes that make it at the same time all get the same key. An
// error says what to do.
func Load(state string) ([]byte, error) {
	key, err := Read(state)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := create(state); err != nil {
		return nil, fmt.Errorf("make the key %s: %w; look at the owner and the space of the folder", Path(state), err)
	}
	return Read(state)
}

// Read gives the key of a state folder. Where there is none, the error is
// fs.ErrNotExist: nothing was ever signed there.
func Read(state string) ([]byte, error) {
	if state == "" {
		return nil, errors.New("there is no state folder for the key; set HOME or XDG_STATE_HOME")
	}
	name := Path(state)
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the key: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the key %s is no regular file; remove it, and accept again what it signed", name)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("the key %s can be read or written by others; remove it, and accept again what it signed", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, Size+1))
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	if len(key) != Size {
		return nil, fmt.Errorf("the key %s is damaged; remove it, and accept again what it signed", name)
	}
	return key, nil
}

// Path is where the key of a state folder lies.
func Path(state string) string { return filepath.Join(state, "key") }

// create writes a whole key beside its place and links it there. A link does
// not replace what is there already, so the first one wins and nobody reads
// half a key.
func create(state string) error {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(state, ".key-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, Size)
	_, _ = rand.Read(key) // ends the process rather than fail
	_, err = f.Write(key)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), Path(state)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Sign is the HMAC-SHA-256 of data for a purpose. The purpose, and the length
// of each piece of data, are part of what is signed, so that what was signed as
// one thing is never taken for another.
func Sign(key []byte, purpose string, data ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, d := range append([][]byte{[]byte(purpose)}, data...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(d))))
		h.Write(d)
	}
	return h.Sum(nil)
}

// Signed reports whether a signature is that of data for a purpose. With an
// empty key nothing is signed.
func Signed(key, signature []byte, purpose string, data ...[]byte) bool {
	return len(key) == Size && hmac.Equal(signature, Sign(key, purpose, data...))
}
