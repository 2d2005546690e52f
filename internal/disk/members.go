package disk

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"io"
	"strings"

	"cardea.dev/internal/state"
)

// An archive or a patch is read so far: bytes of the file, bytes of what is packed in
// it, and members.
const (
	maxArchive  = 32 << 20
	maxUnpacked = 128 << 20
	maxMembers  = 20_000
)

// Members are the files that an archive (tar, plain or packed with gzip or bzip2, and
// zip) or a patch writes, as it names them; false where it cannot be read to its end.
func Members(file string) ([]string, bool) {
	data, err := state.ReadLinked(file, maxArchive)
	if err != nil {
		return nil, false
	}
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
	case len(data) > 262 && string(data[257:262]) == "ustar":
		return tarMembers(bytes.NewReader(data))
	}
	return patchMembers(data)
}

func zipMembers(data []byte) ([]string, bool) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) > maxMembers {
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
		case err != nil || len(names) >= maxMembers:
			return nil, false
		case h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink:
			names = append(names, h.Linkname) // what is written through it later
		}
		names = append(names, h.Name)
	}
}

// patchMembers are the files of a unified or git diff, without the folders a/ and b/
// as well, since -p decides whether they count.
func patchMembers(data []byte) ([]string, bool) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, false
	}
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxArchive)
	for lines.Scan() {
		line := lines.Text()
		for _, head := range []string{"+++ ", "--- ", "*** ", "rename from ", "rename to ", "copy to ", "Index: ", "diff --git "} {
			rest, ok := strings.CutPrefix(line, head)
			if !ok {
				continue
			}
			rest, _, _ = strings.Cut(rest, "\t")
			for _, name := range append(strings.Fields(rest), rest) {
				name = strings.Trim(name, `"`)
				names = append(names, name)
				for i := range name { // whatever -p takes off
					if name[i] == '/' {
						names = append(names, name[i+1:])
					}
				}
			}
		}
		if len(names) > maxMembers {
			return nil, false
		}
	}
	return names, len(names) > 0 && lines.Err() == nil
}
