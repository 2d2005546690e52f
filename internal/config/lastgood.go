package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"cardea.dev/internal/document"
	"cardea.dev/internal/userkey"
)

// lastGood keeps the last form of every file of settings and rules that was
// read without errors, so that a typing error does not open or shut the gate.
//
// A form is kept under a name that is a digest of the file's path, signed with
// the user's key, so that a planted one does not count. It has the time of the
// file that it was made from: one look at time and size tells whether it is
// current, so that a call for which nothing changed costs a stat a file. What
// is new is written when the verdict stands.
type lastGood struct {
	// state is the state folder, "" where nothing is kept.
	state string
	news  []form
}

// form is a form that is to be kept.
type form struct {
	path string
	from source
	data []byte
	when time.Time
}

// source is the folder that a file was read from, as far as it matters here.
type source bool

// Forms of a project's files are kept apart from the person's, and only so
// many of them: a clone must not fill the disk or push the person's out.
const (
	ofPerson  source = false
	ofProject source = true

	maxProjectForms = 512
	signature       = 32
	purpose         = "last good form"
)

// folder is where forms of a source are kept.
func (k *lastGood) folder(from source) string {
	if from == ofProject {
		return filepath.Join(k.state, "lastgood", "projects")
	}
	return filepath.Join(k.state, "lastgood")
}

func (k *lastGood) name(path string, from source) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(k.folder(from), hex.EncodeToString(sum[:]))
}

// note remembers a file that was read without errors, unless its form is kept
// already.
func (k *lastGood) note(path string, from source, data []byte, when time.Time) {
	if k.state == "" {
		return
	}
	info, err := os.Lstat(k.name(path, from))
	if err == nil && info.Size() == int64(signature+len(data)) && info.ModTime().Truncate(time.Microsecond).Equal(when.Truncate(time.Microsecond)) {
		return
	}
	k.news = append(k.news, form{path, from, data, when})
}

// form is the last good form of a file, nil where there is none that this
// user's Cardea wrote.
func (k *lastGood) form(path string, from source) []byte {
	if k.state == "" {
		return nil
	}
	key, err := userkey.Read(k.state)
	if err != nil {
		return nil
	}
	name := k.name(path, from)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := openFile(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, err := io.ReadAll(io.LimitReader(f, signature+document.MaxSize+1))
	if err != nil || len(all) < signature || !userkey.Signed(key, all[:signature], purpose, []byte(path), all[signature:]) {
		return nil
	}
	return all[signature:]
}

// write keeps what is new. An error changes no verdict; it is for the person.
func (k *lastGood) write() error {
	if len(k.news) == 0 {
		return nil
	}
	err := k.writeAll()
	k.news = nil
	if err != nil {
		return fmt.Errorf("keep the last good form of settings and rules: %w; if a file breaks, calls are asked about until it is mended", err)
	}
	return nil
}

func (k *lastGood) writeAll() error {
	key, err := userkey.Load(k.state)
	if err != nil {
		return err
	}
	var errs []error
	pruned := false
	for _, n := range k.news {
		if err := os.MkdirAll(k.folder(n.from), 0o700); err != nil {
			return err
		}
		if n.from == ofProject && !pruned {
			pruned = true
			errs = append(errs, prune(k.folder(ofProject), maxProjectForms-len(k.news)))
		}
		sig := userkey.Sign(key, purpose, []byte(n.path), n.data)
		errs = append(errs, replaceFile(k.name(n.path, n.from), append(sig, n.data...), n.when))
	}
	return errors.Join(errs...)
}

// replaceFile writes a file of mode 0600 beside path, gives it a time, and
// renames it.
func replaceFile(path string, data []byte, when time.Time) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Chtimes(f.Name(), when, when)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// prune removes forms until no more than keep are left, those of the oldest
// files first.
func prune(dir string, keep int) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= keep {
		return err
	}
	type aged struct {
		name string
		when time.Time
	}
	var all []aged
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, aged{e.Name(), info.ModTime()})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].when.Before(all[j].when) })
	var errs []error
	for _, a := range all[:max(0, min(len(all), len(all)-keep))] {
		if err := os.Remove(filepath.Join(dir, a.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// keptInForce says with the first mistake of a file that an earlier form is in
// force.
func keptInForce(problems []document.Problem) []document.Problem {
	out := slices.Clone(problems)
	for i := range out {
		if p := &out[i]; !p.Warning {
			p.Hint = strings.TrimPrefix(p.Hint+"; its last good form is in force until then", "; ")
			break
		}
	}
	return out
}
