// Package archives lists the files of archives for package disk. A program that imports
// it can read archives; the hook's program does not, and has cardea-engine judge a call
// that names one.
package archives

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"io"

	"cardea.dev/internal/command/disk"
)

// maxUnpacked is how much of what is packed is looked through, in bytes.
const maxUnpacked = 128 << 20

var _ = disk.Register(members)

// members lists the files of an archive by its first bytes.
func members(data []byte) ([]string, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("PK")):
		return zipMembers(data)
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, false
		}
		return tarMembers(r)
	case bytes.HasPrefix(data, []byte("BZh")):
		return tarMembers(bzip2.NewReader(bytes.NewReader(data)))
	}
	return tarMembers(bytes.NewReader(data))
}

func zipMembers(data []byte) ([]string, bool) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) > disk.MaxMembers {
		return nil, false
	}
	names := make([]string, len(r.File))
	for i, f := range r.File {
		names[i] = f.Name
	}
	return names, true
}

func tarMembers(packed io.Reader) ([]string, bool) {
	r := tar.NewReader(io.LimitReader(packed, maxUnpacked))
	var names []string
	for {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return names, true
		case err != nil || len(names) >= disk.MaxMembers:
			return nil, false
		case h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink:
			names = append(names, h.Linkname) // what is written through it later
		}
		names = append(names, h.Name)
	}
}
