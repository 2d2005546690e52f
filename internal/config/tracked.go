package config

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxIndex bounds the index of git that is looked through, in bytes. That of a
// repository of a million files is smaller.
const maxIndex = 256 << 20

// Tracked reports whether git tracks a file, so that it came with the
// repository: a file called "local" that a clone brought is not the person's
// own. What cannot be read may be tracked.
func Tracked(path string) bool {
	root, dir := repository(filepath.Dir(path))
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return true
	}
	shared, _ := filepath.Glob(filepath.Join(dir, "sharedindex.*"))
	for _, index := range append(shared, filepath.Join(dir, "index")) {
		data, err := readIndex(index)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || indexHas(data, filepath.ToSlash(rel)) {
			return true
		}
	}
	return false
}

// repository is the root of the working tree around a folder, and the folder
// that holds its index.
func repository(dir string) (root, git string) {
	for ; ; dir = filepath.Dir(dir) {
		git = filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && info.IsDir():
			return dir, git
		case err == nil && info.Mode().IsRegular():
			text, err := os.ReadFile(git)
			at, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if err != nil || !ok {
				return "", ""
			}
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			return dir, at
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

func readIndex(path string) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err == nil && len(data) > maxIndex {
		err = errors.New("it is too large")
	}
	return data, err
}

// indexHas reports whether an index (gitformat-index(5)) has an entry of a name.
// Of the compressed form it walks the entries; the others are searched for the
// name behind its length. An index that it cannot read may have it.
func indexHas(data []byte, name string) bool {
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return true
	}
	if binary.BigEndian.Uint32(data[4:]) == 4 {
		return compressedHas(data, name)
	}
	want := append([]byte(name), 0)
	for at := 0; ; {
		i := bytes.Index(data[at:], want)
		if i < 0 {
			return false
		}
		at += i
		for _, flags := range []int{at - 2, at - 4} { // the second where more flags follow
			if flags >= 0 && int(binary.BigEndian.Uint16(data[flags:])&0xfff) == min(len(name), 0xfff) {
				return true
			}
		}
		at++
	}
}

// compressedHas walks an index of version 4, in which each name says how much
// of the one before it stays. Entries have SHA-1 names.
func compressedHas(data []byte, name string) bool {
	const fixed = 62
	at, last := 12, ""
	for range binary.BigEndian.Uint32(data[8:]) {
		if at+fixed > len(data) {
			return true
		}
		extended := binary.BigEndian.Uint16(data[at+fixed-2:])&0x4000 != 0
		at += fixed
		if extended {
			at += 2
		}
		strip, n := offset(data[min(at, len(data)):])
		at += n
		end := bytes.IndexByte(data[min(at, len(data)):], 0)
		if n == 0 || end < 0 || strip > len(last) {
			return true
		}
		last = last[:len(last)-strip] + string(data[at:at+end])
		at += end + 1
		if last == name {
			return true
		}
	}
	return false
}

// offset reads a number as git packs offsets.
func offset(data []byte) (value, n int) {
	for n < len(data) && n < 5 {
		c := data[n]
		if n++; n > 1 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
	}
	return 0, 0
}
