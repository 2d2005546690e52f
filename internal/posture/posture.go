// Package posture remembers how the gate was set up when a person last did it:
// which hooks were registered, which program they start, which settings and rules
// counted. It tells what changed since then.
//
// A change is no attack by itself: people edit their settings, and updates replace
// the program. So it is told in one line, once a session, and decides nothing.
package posture

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/state"
)

const (
	purpose = "posture"
	// maxFile bounds the file of a posture, maxRead each file that is looked at, in
	// bytes.
	maxFile = 1 << 20
	maxRead = 256 << 20
)

// Posture is what was there when a person set the gate up.
type Posture struct {
	When time.Time `json:"when"`
	// Files are digests by path: of whole files, and of the hooks in the settings of
	// harnesses, in which people and harnesses change other things all the time.
	Files map[string]string `json:"files"`
	Hooks map[string]string `json:"hooks"`
	// Stamps tell that a file is the same one without reading it: programs are large.
	Stamps map[string]string `json:"stamps"`
}

// Look makes the posture of now. hooks gives the text of the hooks in a file.
func Look(files, hookFiles []string, hooks func(path string) ([]byte, error), when time.Time) Posture {
	p := Posture{When: when.UTC(), Files: map[string]string{}, Hooks: map[string]string{}, Stamps: map[string]string{}}
	for _, path := range hookFiles {
		p.Hooks[path] = hooksDigest(path, hooks)
	}
	return p.With(files...)
}

// With is the posture with files as they are now, which a person has just written.
func (p Posture) With(files ...string) Posture {
	p.Files, p.Stamps = maps.Clone(p.Files), maps.Clone(p.Stamps)
	for _, path := range files {
		p.Stamps[path] = state.Stamp(path)
		p.Files[path] = fileDigest(path)
	}
	return p
}

// Changed lists those of the files, and of those that p has besides, that are not
// as they were.
func (p Posture) Changed(files, hookFiles []string, hooks func(path string) ([]byte, error)) []string {
	var out []string
	for _, path := range slices.AppendSeq(slices.Clone(files), maps.Keys(p.Files)) {
		stamp := state.Stamp(path)
		if (stamp == "" || stamp != p.Stamps[path]) && fileDigest(path) != p.Files[path] {
			out = append(out, path)
		}
	}
	for _, path := range slices.AppendSeq(slices.Clone(hookFiles), maps.Keys(p.Hooks)) {
		if hooksDigest(path, hooks) != p.Hooks[path] {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absent is the digest of a file that is not there, and of one that was not looked at.
const absent = ""

// fileDigest is the digest of a file. What cannot be read has another one than
// anything that can.
func fileDigest(path string) string {
	f, _, err := state.OpenLinked(path)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxRead)); err != nil {
		return failed(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func hooksDigest(path string, hooks func(string) ([]byte, error)) string {
	text, err := hooks(path)
	if err != nil {
		return failed(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
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
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := state.WriteSigned(Path(folder), key, purpose, "", data); err != nil {
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
	data, err := state.ReadSigned(Path(folder), key, purpose, "", maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var p Posture
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("read how the gate was set up: %w", err)
	}
	return &p, nil
}
