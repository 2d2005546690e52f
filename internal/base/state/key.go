package state

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// KeySize is the length of the key in bytes.
const KeySize = 32

// LoadKey returns the key of a state folder, and creates it if none exists. Concurrent
// processes all get the same key. The error says what to do.
func LoadKey(folder string) ([]byte, error) {
	key, err := ReadKey(folder)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKey(folder); err != nil {
		return nil, fmt.Errorf("make the key %s: %w; look at the owner and the space of the folder", KeyPath(folder), err)
	}
	return ReadKey(folder)
}

// ReadKey returns the key of a state folder. If there is no key, the error is
// fs.ErrNotExist: nothing was ever signed there.
func ReadKey(folder string) ([]byte, error) {
	if folder == "" {
		return nil, errors.New("there is no state folder for the key; set HOME or XDG_STATE_HOME")
	}
	name := KeyPath(folder)
	key, info, err := read(name, false, KeySize)
	switch {
	case errors.Is(err, ErrNotRegular):
		return nil, fmt.Errorf("the key %s is no regular file; remove it, and accept again what it signed", name)
	case err != nil && !errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("read the key: %w", err)
	case runtime.GOOS != "windows" && info.mode.Perm()&0o077 != 0:
		return nil, fmt.Errorf("the key %s can be read or written by others; remove it, and accept again what it signed", name)
	case len(key) != KeySize:
		return nil, fmt.Errorf("the key %s is damaged; remove it, and accept again what it signed", name)
	}
	return key, nil
}

// KeyPath returns the path of the key of a state folder.
func KeyPath(folder string) string { return filepath.Join(folder, "key") }

// TokenPath returns the path of the token with which programs call the daemon over HTTP.
func TokenPath(dir string) string { return filepath.Join(dir, "http-token") }

// createKey writes a complete key to a temporary file and links it to its place. A link
// does not replace an existing key, so the first one wins and no process reads half a key.
func createKey(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".key-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails: it ends the process instead
	_, err = f.Write(key)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), KeyPath(folder)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Sign returns the HMAC-SHA-256 of data for a purpose. It covers the purpose and the length
// of each piece, so a signature for one thing is never valid for another.
func Sign(key []byte, purpose string, data ...[]byte) []byte {
	size := 8 + len(purpose)
	for _, d := range data {
		size += 8 + len(d)
	}
	text := append(binary.BigEndian.AppendUint64(make([]byte, 0, size), uint64(len(purpose))), purpose...)
	for _, d := range data {
		text = append(binary.BigEndian.AppendUint64(text, uint64(len(d))), d...)
	}
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// Signed reports whether a signature is valid for data and a purpose. With an empty key, it
// is always false.
func Signed(key, signature []byte, purpose string, data ...[]byte) bool {
	return len(key) == KeySize && hmac.Equal(signature, Sign(key, purpose, data...))
}
