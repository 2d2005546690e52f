package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// maxKeyFile is how much of a file is searched for a private key, in bytes.
const maxKeyFile = 64 << 10

// HoldsKey reports whether a file holds a private key in PEM form. A file that may
// not be read is taken for one, and so is a .key file beside its certificate.
func HoldsKey(p string) bool {
	// A FIFO or a device must not hold the gate.
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	data := make([]byte, min(info.Size(), maxKeyFile))
	n, _ := f.Read(data)
	if bytes.Contains(data[:n], []byte("PRIVATE KEY-----")) {
		return true
	}
	stem, isKey := strings.CutSuffix(p, ".key")
	for _, certificate := range [...]string{".crt", ".cer", ".cert", ".pem"} {
		if isKey && !IsNew(stem+certificate) {
			return true
		}
	}
	return false
}
