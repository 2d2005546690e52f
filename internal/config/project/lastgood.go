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

// LastGood stores the last error-free form of every file of settings and rules, so that a
// typing error neither opens nor closes the gate.
//
// The name of a form is an HMAC of the file's path. Forms are signed with the user's key,
// so a planted one is ignored. A form has the time of its file: time and size show whether
// it is current, so an unchanged file costs one stat per call. New forms are written after
// the verdict is final.
//
// A form with a possible secret is not stored, since redacted rules would be different
// rules. An empty signed form in its place shows that it was checked.
type LastGood struct {
	// state is the state folder, "" to store nothing.
	state string
	news  []form
	// key is the user's key, nil if none exists or it was not read yet.
	key   []byte
	asked bool
}

// NewLastGood returns the store in a state folder; "" stores nothing.
func NewLastGood(state string) LastGood { return LastGood{state: state} }

// form is a form to store.
type form struct {
	path string
	from Source
	data []byte
	when time.Time
}

// Source is the kind of folder that a file was read from.
type Source bool

// Forms of a project's files are separate from the user's, and limited in number: a clone
// must not fill the disk or displace the user's forms.
const (
	OfPerson  Source = false
	OfProject Source = true

	MaxProjectForms = 512

	purpose         = "last good form"
	namePurpose     = "name of a last good form"
	withheldPurpose = "withheld form"
)

// folder returns the folder for forms of a source.
func (k *LastGood) folder(from Source) string {
	if from == OfProject {
		return filepath.Join(k.state, "lastgood", "projects")
	}
	return filepath.Join(k.state, "lastgood")
}

// own returns the user's key, nil if nothing was ever signed.
func (k *LastGood) own() []byte {
	if !k.asked && k.state != "" {
		k.key, _ = state.ReadKey(k.state) // writing reports errors
		k.asked = true
	}
	return k.key
}

// name returns the path of a form. It depends on the key, since a path may contain a secret
// that can be guessed.
func (k *LastGood) name(path string, from Source) string {
	return filepath.Join(k.folder(from), hex.EncodeToString(state.Sign(k.key, namePurpose, []byte(path))))
}

// Note records a file that was read without errors, unless its form is stored already.
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

// Form returns the last good form of a file, nil if this user's Cardea wrote none.
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

// Write stores the new forms until late returns true. A later call stores the rest. An
// error changes no verdict; it is for the user.
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

// writeAll signs and writes the new forms, and prunes old forms of projects.
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

// signed returns a form as it is stored: the signature and the text. If the text has a
// secret, it returns only a signature for that.
func (k *LastGood) signed(n form, r *redact.Redactor) []byte {
	if len(r.Find(string(n.data))) > 0 {
		return state.Sign(k.key, withheldPurpose, []byte(n.path))
	}
	return state.SignedText(k.key, purpose, n.path, n.data)
}

// Pending returns the files whose forms are not written yet.
func (k *LastGood) Pending() []string {
	var out []string
	for _, n := range k.news {
		out = append(out, n.path)
	}
	return out
}
