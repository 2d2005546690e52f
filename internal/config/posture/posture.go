// Package posture remembers how the gate was set up when a person last did it:
// which hooks were registered, which program they start, which settings and rules
// counted. It tells what changed since then.
//
// A change is no attack by itself: people edit their settings, and updates replace
// the program. So it is told in one line, once a session, and decides nothing.
package posture

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

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

const (
	purpose = "posture"
	// maxFile bounds the file of a posture, maxRead each file that is looked at, in
	// bytes.
	maxFile = 8 << 20
	maxRead = 256 << 20
	// maxText bounds the text of a file that is kept, maxTexts those of all files, in bytes.
	maxText  = 64 << 10
	maxTexts = 1 << 20
)

// Posture is what was there when a person set the gate up.
type Posture struct {
	When time.Time `json:"when"`
	// Files are digests by name: a path, or for the hooks in a file what [HooksIn] gives.
	Files map[string]string `json:"files"`
	// Stamps tell that a file is the same one without reading it: programs are large.
	Stamps map[string]string `json:"stamps"`
	// Texts are the texts of small files, with secrets taken out, to show what changed.
	Texts map[string]string `json:"texts"`
}

const hooksIn = "hooks in "

// HooksIn names the hooks in a file, where people and harnesses change other things all
// the time.
func HooksIn(path string) string { return hooksIn + path }

// PathOf is the path of a name.
func PathOf(name string) string { return strings.TrimPrefix(name, hooksIn) }

// Hooks gives the text of the hooks in a file.
type Hooks func(path string) ([]byte, error)

// and gives names and those that p has, each once.
func (p Posture) and(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(names), maps.Keys(p.Files)))))
}

// Look makes the posture of now: of the files with names, and of those that p has.
// Those with a path in stays are as p has them. r takes secrets out of texts.
func (p Posture) Look(names, stays []string, hooks Hooks, r *redact.Redactor, when time.Time) Posture {
	now, left := Posture{when.UTC(), map[string]string{}, map[string]string{}, map[string]string{}}, maxTexts
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

// Changed lists the paths of those with names, and of those that p has, that are not as
// they were.
func (p Posture) Changed(names []string, hooks Hooks) []string {
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

// absent is the digest of a file that is not there, and of one that was not looked at.
const absent = ""

// digest is the digest of a file, and the text of a small one. What cannot be read has
// another digest than anything that can.
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

// CodeChanged: the set-up is not as the person left it.
const CodeChanged cardea.Code = "set-up-changed"

// Kept reports whether a posture is kept in a state folder.
func Kept(folder string) bool {
	_, err := os.Lstat(Path(folder))
	return err == nil
}

// Path is where the posture of a state folder is kept.
func Path(folder string) string { return filepath.Join(folder, "posture") }

// Save keeps a posture in the state folder, signed with the user's key.
func (p Posture) Save(folder string) error {
	key, err := state.LoadKey(folder)
	if err != nil {
		return err
	}
	if err := state.WriteSignedJSON(Path(folder), key, purpose, "", p); err != nil {
		return fmt.Errorf("remember how the gate is set up: %w", err)
	}
	return nil
}

// Load gives the posture of a state folder, nil where nobody has set the gate up.
func Load(folder string) (*Posture, error) {
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
	var p Posture
	if err = state.ReadSignedJSON(Path(folder), key, purpose, "", maxFile, &p); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how the gate was set up: %w", err)
	}
	return &p, nil
}
