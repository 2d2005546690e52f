package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
)

// maxKeyFile is the number of bytes of a file that are searched for a private key.
const maxKeyFile = 64 << 10

// HoldsKey reports whether a file holds a private key in PEM form. It also returns true
// for a file that may not be read, and for a .key file next to its certificate.
func HoldsKey(p string) bool {
	f, info, err := state.OpenLinked(p)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer f.Close()
	data := make([]byte, min(info.Size(), maxKeyFile))
	n, _ := f.Read(data)
	if bytes.Contains(data[:n], []byte("PRIVATE KEY-----")) {
		return true
	}
	stem, isKey := strings.CutSuffix(p, ".key")
	return isKey && slices.ContainsFunc([]string{".crt", ".cer", ".cert", ".pem"}, func(certificate string) bool { return !IsNew(stem + certificate) })
}
