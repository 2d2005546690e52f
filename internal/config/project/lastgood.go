package project

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// LastGood keeps the last form of every file of settings and rules that was
// read without errors, so that a typing error does not open or shut the gate.
//
// A form is kept under a name that is a digest of the file's path, signed with
// the user's key, so that a planted one does not count. It has the time of the
// file that it was made from: one look at time and size tells whether it is
// current, so that a call for which nothing changed costs a stat a file. What
// is new is written when the verdict stands.
//
// A form in which something looks like a secret is not kept: redacted it would
// be other rules. An empty file in its place tells that it was looked at.
type LastGood struct {
	// state is the state folder, "" where nothing is kept.
	state string
	news  []form
	// key is the user's, nil where there is none or it was not asked for.
	key   []byte
	asked bool
}

// NewLastGood keeps forms in a state folder, "" keeps none.
func NewLastGood(state string) LastGood { return LastGood{state: state} }

// form is a form that is to be kept.
type form struct {
	path string
	from Source
	data []byte
	when time.Time
}

// Source is the folder that a file was read from, as far as it matters here.
type Source bool

// Forms of a project's files are kept apart from the person's, and only so
// many of them: a clone must not fill the disk or push the person's out.
const (
	OfPerson  Source = false
	OfProject Source = true

	MaxProjectForms = 512

	purpose         = "last good form"
	namePurpose     = "name of a last good form"
	withheldPurpose = "withheld form"
)

// folder is where forms of a source are kept.
func (k *LastGood) folder(from Source) string {
	if from == OfProject {
		return filepath.Join(k.state, "lastgood", "projects")
	}
	return filepath.Join(k.state, "lastgood")
}

// own is the user's key, nil where nothing was ever signed.
func (k *LastGood) own() []byte {
	if !k.asked && k.state != "" {
		k.key, _ = state.ReadKey(k.state) // writing tells what is wrong with it
		k.asked = true
	}
	return k.key
}

// name is the file of a form. Its digest is made with the key, since a path may
// hold a secret that can be guessed.
func (k *LastGood) name(path string, from Source) string {
	return filepath.Join(k.folder(from), hex.EncodeToString(state.Sign(k.key, namePurpose, []byte(path))))
}

// Note remembers a file that was read without errors, unless its form is kept
// already.
func (k *LastGood) Note(path string, from Source, data []byte, when time.Time) {
	if k.state == "" {
		return
	}
	if k.own() != nil {
		info, err := os.Lstat(k.name(path, from))
		whole := err == nil && (info.Size() == int64(state.SignatureSize+len(data)) || info.Size() == state.SignatureSize)
		if whole && info.ModTime().Truncate(time.Microsecond).Equal(when.Truncate(time.Microsecond)) {
			return
		}
	}
	k.news = append(k.news, form{path, from, data, when})
}

// Form is the last good form of a file, nil where there is none that this
// user's Cardea wrote.
func (k *LastGood) Form(path string, from Source) []byte {
	if k.state == "" {
		return nil
	}
	if k.own() == nil {
		return nil
	}
	text, err := state.ReadSigned(k.name(path, from), k.key, purpose, path, document.MaxSize)
	if err != nil {
		return nil
	}
	return text
}

// Write keeps what is new, until it is late. What is left is new at the next
// call. An error changes no verdict; it is for the person.
func (k *LastGood) Write(r *redact.Redactor, late func() bool) error {
	if len(k.news) == 0 {
		return nil
	}
	err := k.writeAll(r, late)
	k.news = nil
	if err != nil {
		return fmt.Errorf("keep the last good form of settings and rules: %w; if a file breaks, calls are asked about until it is mended", err)
	}
	return nil
}

func (k *LastGood) writeAll(r *redact.Redactor, late func() bool) error {
	key, err := state.LoadKey(k.state)
	if err != nil {
		return err
	}
	k.key, k.asked = key, true
	var errs []error
	pruned := false
	for _, n := range k.news {
		if late() {
			break
		}
		if n.from == OfProject && !pruned {
			pruned = true
			errs = append(errs, state.Prune(k.folder(OfProject), MaxProjectForms-len(k.news), MaxProjectForms-len(k.news)))
		}
		errs = append(errs, state.WriteAt(k.name(n.path, n.from), k.signed(n, r), n.when))
	}
	return errors.Join(errs...)
}

// signed is a form as it is kept: the signature and the text, or, where the
// text holds a secret, the signature of that.
func (k *LastGood) signed(n form, r *redact.Redactor) []byte {
	if len(r.Find(string(n.data))) > 0 {
		return state.Sign(k.key, withheldPurpose, []byte(n.path))
	}
	return state.SignedText(k.key, purpose, n.path, n.data)
}

// Pending are the files whose forms are to be kept and are not written yet.
func (k *LastGood) Pending() []string {
	var out []string
	for _, n := range k.news {
		out = append(out, n.path)
	}
	return out
}
