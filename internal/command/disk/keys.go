package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
)

// maxKeyFile is how much of a file is searched for a private key, in bytes.
const maxKeyFile = 64 << 10

// HoldsKey reports whether a file holds a private key in PEM form. A file that may
// not be read is taken for one, and so is a .key file beside its certificate.
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
