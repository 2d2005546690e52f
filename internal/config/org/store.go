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

// Store is the folder that holds those of organisations, org in the person's own
// folder. Beside the folders in force it has hidden ones: what is being brought, the
// form before, and where each came from.
type Store struct{ Dir string }

// Record says where the folder of an organisation came from.
type Record struct {
	// Source is as people write it, Key the file with the public key, or "".
	Source string `json:"source"`
	Key    string `json:"key,omitempty"`
	// Form is the commit, or the digest of the archive.
	Form string    `json:"form"`
	When time.Time `json:"when"`
	// Former is that of the form before, nil where there was none.
	Former *Record `json:"former,omitempty"`
}

// Folder is the folder of an organisation in force.
func (s Store) Folder(name string) string { return filepath.Join(s.Dir, name) }

// Former is the form of an organisation's folder before the one in force.
func (s Store) Former(name string) string { return filepath.Join(s.Dir, ".former", name) }

func (s Store) record(name string) string { return filepath.Join(s.Dir, ".synced", name+".json") }

// maxRecord bounds a record, in bytes.
const maxRecord = 64 << 10

// Record is where the folder of an organisation came from; it is empty where it was
// never brought.
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

// Lock keeps other processes from changing the store until release is called.
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
	return func() { _ = f.Close() }, nil // nothing was written to it
}

// Staged is a tree that was written beside what is in force.
type Staged struct {
	// Root is a folder that has the tree at org/NAME, as a person's own folder would.
	Root string
	// Dir is the tree's folder.
	Dir string
}

// Stage writes a tree beside what is in force.
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

// Discard removes what was staged, or what came in its place.
func (s Staged) Discard() error { return os.RemoveAll(s.Root) }

// Put puts a staged tree in force, and keeps the form before.
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

// Rollback puts the form before in force, and keeps the present one in its place.
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

// swap puts a folder in force. The one that was becomes the former one.
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

// byRenames exchanges two folders where the system cannot do it at once. The second is
// away for a moment, and is put back where the first cannot take its place.
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

// Read reads the files of a folder that a scope's folder has a place for, links
// followed, under the limits of what comes. One that is not there is empty.
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
				continue // a link to nothing
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

// Change is a file that differs between two trees. Old and New are nil where there is
// none.
type Change struct {
	Path     string
	Old, New *File
}

// Compare lists what differs, by path.
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
