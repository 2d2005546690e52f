package org

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev/internal/base/state"
)

// Store is the folder of organisations, org in the user's own folder. In addition to the
// folders in force, hidden folders hold staged trees, previous forms and records.
type Store struct{ Dir string }

// Record is the origin of an organisation's folder.
type Record struct {
	// Source is the source as users write it. Key is the file with the public key, or "".
	Source string `json:"source"`
	Key    string `json:"key,omitempty"`
	// Form is the commit, or the digest of the archive.
	Form string    `json:"form"`
	When time.Time `json:"when"`
	// Former is the record of the previous form, nil if there was none.
	Former *Record `json:"former,omitempty"`
}

// Folder returns the folder of an organisation in force.
func (s Store) Folder(name string) string { return filepath.Join(s.Dir, name) }

// Former returns the folder of an organisation's previous form.
func (s Store) Former(name string) string { return filepath.Join(s.Dir, ".former", name) }

func (s Store) record(name string) string { return filepath.Join(s.Dir, ".synced", name+".json") }

// maxRecord is the maximum size of a record in bytes.
const maxRecord = 64 << 10

// Record returns the origin of an organisation's folder, empty if it was never synced.
func (s Store) Record(name string) (Record, error) {
	var r Record
	data, err := state.Read(s.record(name), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read %s: %w; remove it, and name the source", s.record(name), err)
	}
	return r, nil
}

// Lock prevents other processes from changing the store until release is called.
func (s Store) Lock() (release func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	f, _, err := state.Open(filepath.Join(s.Dir, ".lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := state.Lock(f, time.Second); err != nil {
		return nil, errors.Join(fmt.Errorf("another sync is at work: %w", err), f.Close())
	}
	return func() { _ = f.Close() }, nil // nothing was written
}

// Staged is a tree that was written but is not in force.
type Staged struct {
	// Root is a folder with the tree at org/NAME, as in a user's own folder.
	Root string
	// Dir is the tree's folder.
	Dir string
}

// Stage writes a tree without putting it in force.
func (s Store) Stage(name string, t *Tree) (staged Staged, err error) {
	if err := os.MkdirAll(filepath.Join(s.Dir, ".staged"), 0o700); err != nil {
		return Staged{}, err
	}
	root, err := os.MkdirTemp(filepath.Join(s.Dir, ".staged"), name+"-")
	if err != nil {
		return Staged{}, err
	}
	staged = Staged{root, filepath.Join(root, "org", name)}
	for _, path := range sorted(t.Files) {
		f := t.Files[path]
		to := filepath.Join(staged.Dir, filepath.FromSlash(path))
		if err = state.Write(to, f.Data); err == nil && f.Program {
			err = os.Chmod(to, 0o700)
		}
		if err != nil {
			return Staged{}, errors.Join(err, staged.Discard())
		}
	}
	return staged, nil
}

// Discard removes what is left of the staged tree.
func (s Staged) Discard() error { return os.RemoveAll(s.Root) }

// Put puts a staged tree in force, and stores the previous form.
func (s Store) Put(name string, staged Staged, r Record) error {
	if old, err := s.Record(name); err == nil && old.Source != "" {
		old.Former = nil
		r.Former = &old
	}
	if err := s.swap(name, staged.Dir); err != nil {
		return err
	}
	return s.note(name, r)
}

// Rollback puts the previous form in force, and stores the current one as previous.
func (s Store) Rollback(name string) error {
	now, err := s.Record(name)
	if err != nil {
		return err
	}
	if err := s.swap(name, s.Former(name)); err != nil {
		return err
	}
	was := Record{Source: now.Source, Key: now.Key}
	if now.Former != nil {
		was = *now.Former
	}
	now.Former = nil
	was.Former = &now
	return s.note(name, was)
}

func (s Store) note(name string, r Record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return state.Write(s.record(name), append(text, '\n'))
}

// swap puts a folder in force. The current one becomes the previous form.
func (s Store) swap(name, from string) error {
	at, former := s.Folder(name), s.Former(name)
	if state.IsLink(at) {
		return fmt.Errorf("%s is a link, and sync writes into a folder of its own; remove the link", at)
	}
	if !state.Exists(at) {
		return os.Rename(from, at)
	}
	if err := exchange(from, at); err != nil {
		return fmt.Errorf("put %s in force: %w", at, err)
	}
	if from == former {
		return nil
	}
	err := os.RemoveAll(former)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(former), 0o700)
	}
	if err == nil {
		err = os.Rename(from, former)
	}
	if err != nil {
		return fmt.Errorf("keep the form before: %w; the new one is in force", err)
	}
	return nil
}

// byRenames swaps two folders if the system cannot do it atomically. b is missing for a
// moment, and is restored if a cannot replace it.
func byRenames(a, b string) error {
	aside := a + ".aside"
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}

// Read returns the files in a folder that a scope's folder can hold, with links followed,
// within the limits of this package. A missing folder is empty.
func Read(dir string) (*Tree, error) {
	t := &Tree{Files: map[string]File{}}
	total := 0
	var walk func(rel string, depth int) error
	walk = func(rel string, depth int) error {
		entries, err := state.Entries(filepath.Join(dir, filepath.FromSlash(rel)), MaxFiles)
		if errors.Is(err, fs.ErrNotExist) && rel == "" {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := strings.TrimPrefix(rel+"/"+e.Name(), "/")
			path := filepath.Join(dir, filepath.FromSlash(name))
			info, err := os.Stat(path)
			switch {
			case err != nil:
				continue // a dangling link
			case info.IsDir():
				if depth < maxDepth && !strings.HasPrefix(e.Name(), ".") {
					err = walk(name, depth+1)
				}
			case Taken(name) && info.Mode().IsRegular():
				var data []byte
				if data, err = state.ReadLinked(path, MaxFile); err == nil {
					t.Files[name] = File{Data: data, Program: info.Mode()&0o100 != 0 && isScript(name)}
				}
				if total += len(data); total > MaxTotal || len(t.Files) > MaxFiles {
					err = errors.New("there are too many files")
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk("", 0); err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	return t, nil
}

// Change is a file that differs between two trees. Old or New is nil if the file is
// missing.
type Change struct {
	Path     string
	Old, New *File
}

// Compare returns the differences, sorted by path.
func Compare(old, new *Tree) []Change {
	all := map[string]File{}
	maps.Copy(all, old.Files)
	maps.Copy(all, new.Files)
	var out []Change
	for _, name := range sorted(all) {
		c := Change{Path: name}
		if f, there := old.Files[name]; there {
			c.Old = &f
		}
		if f, there := new.Files[name]; there {
			c.New = &f
		}
		if c.Old == nil || c.New == nil || string(c.Old.Data) != string(c.New.Data) || c.Old.Program != c.New.Program {
			out = append(out, c)
		}
	}
	return out
}
