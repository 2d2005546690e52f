// Package archives lists the files of archives for package disk. A program that imports
// it can read archives. The hook's program does not, and leaves a call that names an
// archive to cardea-engine.
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

// maxUnpacked is the number of unpacked bytes that are searched.
const maxUnpacked = 128 << 20

var _ = disk.Register(members)

// members returns the files of an archive, whose format its first bytes show. It returns
// false if the archive cannot be read.
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

// tarMembers returns the files of an unpacked tar archive and the targets of its links.
// It returns false if the archive is broken or has too many files.
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
			names = append(names, h.Linkname) // later files may be written through it
		}
		names = append(names, h.Name)
	}
}
