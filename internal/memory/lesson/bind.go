package lesson

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/disk"
)

const (
	// maxBound is the largest size of a file to which an allow is bound, maxBoundTree the largest
	// total size of a folder's files, both in bytes. maxBoundFiles is the largest number of files
	// and folders.
	maxBound      = 16 << 20
	maxBoundTree  = 64 << 20
	maxBoundFiles = 256
)

// The prefixes state how a digest was made: of a file's content, or of the names and contents of
// all files below a folder.
const (
	digestPrefix = "sha256:"
	treePrefix   = "tree-sha256:"
)

// Files returns the digests of the files and folders to which an allow of the key is bound, by name
// as in a [Record]. An error gives the reason why no allow can apply: a file that is run cannot be
// read, or the effect of an opaque command is unknown.
func (k *Keyer) Files(key *Key) (map[string]string, error) {
	out := map[string]string{}
	if key.endless {
		return nil, fmt.Errorf("it runs in a folder that is not known, or a pattern names more than %d files", maxBoundFiles)
	}
	for _, file := range key.runs {
		if err := k.digest(out, file); err != nil {
			return nil, fmt.Errorf("it runs a file that cannot be read: %w", err)
		}
	}
	for _, file := range key.besides {
		// A missing file today may be another set of files tomorrow.
		if err := k.digest(out, file); err != nil && !absent(err) {
			return nil, fmt.Errorf("it may run what cannot be read: %w", err)
		}
		if len(out) > maxBoundFiles {
			return nil, fmt.Errorf("it may run more than %d files", maxBoundFiles)
		}
	}
	if key.hidden && len(out) == 0 {
		return nil, errors.New("it cannot be seen through, and names no file whose content could be remembered")
	}
	return out, nil
}

// absent reports whether an error means that the file does not exist.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.ENOTDIR)
}

// digest adds the digest of a file or folder.
func (k *Keyer) digest(out map[string]string, name string) error {
	if disk.IsDir(name) {
		sum, err := treeDigest(name)
		if err == nil {
			out[k.relative(name)] = sum
		}
		return err
	}
	if _, err := os.Lstat(name); err != nil {
		return err
	}
	data, err := state.ReadLinked(name, maxBound)
	if err == nil {
		sum := sha256.Sum256(data)
		out[k.relative(name)] = digestPrefix + hex.EncodeToString(sum[:])
	}
	return err
}

// treeDigest returns the digest of the names and contents of all files below a folder.
func treeDigest(folder string) (string, error) {
	all, ok := disk.Tree(folder)
	if !ok {
		return "", fmt.Errorf("%s has too many files", folder)
	}
	sum, left := sha256.New(), int64(maxBoundTree)
	for _, file := range all {
		data, err := []byte("link to "+disk.LinkText(file)), error(nil)
		if !disk.IsDir(file) {
			data, err = state.ReadLinked(file, min(left, maxBound))
		}
		if err != nil && !absent(err) { // a link may have no target
			return "", err
		}
		rel, err := filepath.Rel(folder, file)
		if err != nil {
			return "", err
		}
		left -= int64(len(data))
		content := sha256.Sum256(data)
		fmt.Fprintf(sum, "%q %x\n", filepath.ToSlash(rel), content)
	}
	return treePrefix + hex.EncodeToString(sum.Sum(nil)), nil
}

// Used returns the digests of the files and folders that a call runs or reads, if it does more than
// read: kubectl apply -f x.yaml, curl -d @x, cat x.sql | psql. It includes files that the other
// commands may not see. A lesson is not bound to files that are only read, since they may change
// all day. An approval of a single run is bound to them: a file that cannot be digested is stamped,
// so that any change of it makes another call.
func (k *Keyer) Used(ev *cardea.Event) map[string]string {
	out := map[string]string{}
	doesMore := func(p cardea.Part) bool {
		return p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind != cardea.Read && !a.Nowhere() })
	}
	if !slices.ContainsFunc(ev.Call.Parts, doesMore) {
		return out
	}
	for i := range ev.Call.Parts {
		key := Key{}
		key.bind(&ev.Call.Parts[i], k.root())
		key.bindUsed(&ev.Call.Parts[i])
		if unseenWord(&ev.Call.Parts[i]) != "" { // it may run any file of the project
			key.besides = withName(key.besides, k.root())
		}
		for _, file := range key.besides {
			if err := k.digest(out, file); err != nil && !absent(err) {
				out[k.relative(file)] = "stamp:" + k.stampOf(file)
			}
		}
	}
	return out
}

// stampOf returns a digest of the sizes and times of a file, or of all files below a folder. For a
// folder outside of the project it covers the folder alone, because other programs write there all
// the time.
func (k *Keyer) stampOf(name string) string {
	if !paths.Within(k.root(), name) {
		return state.Stamp(name)
	}
	sum, entries := sha256.New(), 0
	_ = filepath.WalkDir(name, func(at string, _ fs.DirEntry, err error) error {
		if entries++; err != nil || entries > maxStamped {
			return fs.SkipAll
		}
		fmt.Fprintf(sum, "%q %s\n", at, state.Stamp(at))
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil))
}

// maxStamped is the largest number of files of a folder that are stamped.
const maxStamped = 20_000

// bindsTo reports whether an allow is bound to exactly these files.
func (r *Record) bindsTo(files map[string]string) bool { return maps.Equal(r.Files, files) }

// names returns the sorted names of files.
func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }
