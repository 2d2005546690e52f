// Package setup records the gate's set-up as a person last left it: the registered hooks,
// the program they start, and the settings and rules that applied. It reports later
// changes.
//
// A change is not an attack by itself: users edit their settings, and updates replace the
// program. So it is reported in one line per session, and decides nothing.
package setup

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

const (
	purpose = "posture"
	// maxFile is the maximum size of a record, maxRead that of each recorded file, in bytes.
	maxFile = 8 << 20
	maxRead = 256 << 20
	// maxText is the maximum size of a file whose text is stored, maxTexts that of all texts,
	// in bytes.
	maxText  = 64 << 10
	maxTexts = 1 << 20
)

// Snapshot is the set-up recorded when a person set the gate up.
type Snapshot struct {
	When time.Time `json:"when"`
	// Files holds digests by name. A name is a path, or the result of [HooksIn] for the hooks
	// in a file.
	Files map[string]string `json:"files"`
	// Stamps identify unchanged files without reading them: programs are large.
	Stamps map[string]string `json:"stamps"`
	// Texts holds the texts of small files without secrets, to show changes.
	Texts map[string]string `json:"texts"`
}

const hooksIn = "hooks in "

// HooksIn returns the name of the hooks in a file whose other content changes often.
func HooksIn(path string) string { return hooksIn + path }

// PathOf returns the path of a name.
func PathOf(name string) string { return strings.TrimPrefix(name, hooksIn) }

// Hooks returns the text of the hooks in a file.
type Hooks func(path string) ([]byte, error)

// and returns the names and those in p, sorted and without duplicates.
func (p Snapshot) and(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(names), maps.Keys(p.Files)))))
}

// Look returns the current set-up of the named files and of those in p. Files whose path is
// in stays keep their record in p. r removes secrets from texts.
func (p Snapshot) Look(names, stays []string, hooks Hooks, r *redact.Redactor, when time.Time) Snapshot {
	now, left := Snapshot{when.UTC(), map[string]string{}, map[string]string{}, map[string]string{}}, maxTexts
	for _, name := range p.and(names) {
		digest, stamp, shown := p.Files[name], p.Stamps[name], p.Texts[name]
		if !slices.Contains(stays, PathOf(name)) {
			var text []byte
			stamp = state.Stamp(PathOf(name))
			digest, text = hooks.digest(name)
			shown = r.Text(string(text)).String()
		}
		if digest == absent {
			continue
		}
		now.Files[name], now.Stamps[name] = digest, stamp
		if left -= len(shown); left >= 0 && utf8.ValidString(shown) {
			now.Texts[name] = shown
		}
	}
	return now
}

// Changed returns the paths of the named files, and of those in p, that differ from p.
func (p Snapshot) Changed(names []string, hooks Hooks) []string {
	var out []string
	for _, name := range p.and(names) {
		if stamp := state.Stamp(PathOf(name)); stamp != "" && stamp == p.Stamps[name] {
			continue
		}
		if digest, _ := hooks.digest(name); digest != p.Files[name] {
			out = append(out, PathOf(name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absent is the digest of a missing or unrecorded file.
const absent = ""

// digest returns the digest of a file, and the text of a small one. An unreadable file has
// a digest that no readable one has.
func (hooks Hooks) digest(name string) (digest string, text []byte) {
	var in io.Reader
	if path := PathOf(name); path != name {
		data, err := hooks(path)
		if err != nil {
			return failed(err), nil
		}
		in = bytes.NewReader(data)
	} else {
		f, _, err := state.OpenLinked(name)
		if err != nil {
			return failed(err), nil
		}
		defer f.Close()
		in = f
	}
	h := sha256.New()
	text, err := io.ReadAll(io.TeeReader(io.LimitReader(in, maxText), h))
	n, more := io.Copy(h, io.LimitReader(in, maxRead))
	if err = cmp.Or(err, more); err != nil {
		return failed(err), nil
	}
	if n > 0 {
		text = nil
	}
	return hex.EncodeToString(h.Sum(nil)), text
}

func failed(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return absent
	}
	return "unreadable"
}

// CodeChanged: the set-up changed since the user left it.
const CodeChanged diagnostic.Code = "set-up-changed"

// Stored reports whether a state folder has a record.
func Stored(folder string) bool {
	_, err := os.Lstat(Path(folder))
	return err == nil
}

// Path returns the path of the record in a state folder.
func Path(folder string) string { return filepath.Join(folder, "posture") }

// Save stores the record in the state folder, signed with the user's key.
func (p Snapshot) Save(folder string) error {
	key, err := state.LoadKey(folder)
	if err != nil {
		return err
	}
	if err := state.WriteSignedJSON(Path(folder), key, purpose, "", p); err != nil {
		return fmt.Errorf("remember how the gate is set up: %w", err)
	}
	return nil
}

// Load returns the record in a state folder, nil if the gate was never set up.
func Load(folder string) (*Snapshot, error) {
	if folder == "" {
		return nil, nil
	}
	key, err := state.ReadKey(folder)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p Snapshot
	if err = state.ReadSignedJSON(Path(folder), key, purpose, "", maxFile, &p); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how the gate was set up: %w", err)
	}
	return &p, nil
}
