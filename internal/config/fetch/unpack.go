package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"cardea.dev/internal/config/org"
)

// unpack reads an archive. Its first bytes determine the format.
func unpack(data []byte, in *org.Incoming) error {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return untar(data, in)
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return unzip(data, in)
	}
	return errors.New("is neither .tar.gz nor .zip")
}

// untar adds the files of a .tar.gz archive to in.
func untar(data []byte, in *org.Incoming) error {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %w", err)
	}
	// Skipped data is also limited: a small archive may hold an endless file.
	r := tar.NewReader(io.LimitReader(packed, 2*org.MaxTotal))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot be unpacked: %w", err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue // metadata of the commit, from git archive
		}
		name, err := in.Name(h.Name)
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
		case tar.TypeReg:
			if err := add(in, name, r, h.Mode&0o100 != 0); err != nil {
				return err
			}
		case tar.TypeSymlink, tar.TypeLink:
			in.Link(name, "a link")
		default:
			in.Link(name, "neither a file nor a folder")
		}
	}
}

// unzip adds the files of a .zip archive to in.
func unzip(data []byte, in *org.Incoming) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %w", err)
	}
	for _, f := range r.File {
		name, err := in.Name(f.Name)
		if err != nil {
			return err
		}
		switch mode := f.Mode(); {
		case mode.IsDir():
		case mode.IsRegular():
			if err := addZipped(in, name, f); err != nil {
				return err
			}
		case mode&fs.ModeSymlink != 0:
			in.Link(name, "a link")
		default:
			in.Link(name, "neither a file nor a folder")
		}
	}
	return nil
}

func addZipped(in *org.Incoming, name string, f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %w", err)
	}
	defer r.Close()
	return add(in, name, r, f.Mode()&0o100 != 0)
}

// add adds a file, and reads no more of it than fits.
func add(in *org.Incoming, name string, r io.Reader, program bool) error {
	data, err := io.ReadAll(io.LimitReader(r, int64(in.Room())+1))
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %s: %w", name, err)
	}
	return in.Add(name, org.File{Data: data, Program: program})
}
