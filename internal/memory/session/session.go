// Package session remembers the data of one session of a harness beyond one hook process: the
// folder in which the session began, and the issues that were already reported to the person.
//
// A session's id comes from the wire, so it is never part of a path: the file is named by a digest.
// Digests are made with the user's key, since data from the wire may be a secret that can be
// guessed. The folder is stored as it is, unless it looks like a secret. Then its digest is stored,
// which identifies the folder when an event comes from it or from below.
//
// A file is written only when something is new, because the hook runs for every call. It is an
// object, followed by a line for each call that began since (prompted.go). Two hooks of one session
// may write at the same time. The last one wins, and lost data is shown once more, which is better
// than a lock that an agent could hold.
package session

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/jsontext"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

const (
	// maxShown is the largest number of issues that a session remembers. Older ones are forgotten,
	// and may be shown again.
	maxShown = 256
	// maxFile is the largest part of a session's file that is read, in bytes. A full file has less
	// than a quarter of it.
	maxFile = 64 << 10
	// maxFiles is the largest number of stored sessions, keepFiles the number left after a cleanup.
	maxFiles, keepFiles = 1000, 750
	// maxAbove is the number of folders above an event's folder that are compared with a withheld
	// one.
	maxAbove = 128
)

// The purposes of signatures with the user's key.
const (
	idPurpose     = "session id"
	folderPurpose = "session folder"
	shownPurpose  = "session told"
)

// Store is the folder of all sessions.
type Store struct {
	// folder is the state folder, dir the folder of the sessions in it.
	folder, dir string
}

// Open returns the store below a state folder, without touching the disk. refuse, if not nil,
// returns the reason why a folder cannot be trusted with state, or "": the caller knows the project
// and the user. After an error the store is nil, and a nil store remembers nothing.
func Open(folder string, refuse func(dir string) string) (*Store, error) {
	if folder == "" {
		return nil, errors.New("there is no state folder, so nothing is remembered between calls; set HOME or XDG_STATE_HOME")
	}
	if refuse != nil {
		if why := refuse(folder); why != "" {
			return nil, fmt.Errorf("the state folder %s %s, so nothing is remembered between calls; set XDG_STATE_HOME to a folder of yours outside of the project", folder, why)
		}
	}
	return &Store{folder: folder, dir: filepath.Join(folder, "sessions")}, nil
}

// Session is the stored data of one session.
type Session struct {
	// store is nil where nothing is stored.
	store       *Store
	harness, id string
	// key is nil until there is a key; then there is no file either.
	key    []byte
	path   string
	stored storedFile
	// folder is the folder of the first event, "" where it is unknown.
	folder string
	// shown are texts that were shown and are not in kept.Shown.
	shown []string
	// keeping are texts to show later that are not in kept.Unreported yet.
	keeping []string
	// making are files that are not in kept.Made yet.
	making []making
	// acting is the call that is not in kept.Acted yet, nil for none.
	acting *acting
	// asking are calls that are not in kept.Asked yet.
	asking []string
	// leaving are calls that are not in kept.Prompted yet.
	leaving []leaving
	// lines are the lines after the object in the file, for calls that began.
	lines []byte
	// taken is set where lines of the file have been moved to kept.Prompted.
	taken bool
	// fresh is set where there is no file yet, dirty where the file is out of date.
	fresh, dirty bool
	// newer is set where a newer Cardea wrote the file.
	newer bool
}

// newerEnd is the suffix of the name under which the file of a newer Cardea is saved.
const newerEnd = ".newer"

// storedFile is the form of the file. Project is the folder of the first event, Withheld its digest.
type storedFile struct {
	V          int          `json:"v"`
	Project    string       `json:"project,omitempty"`
	Withheld   string       `json:"withheld,omitempty"`
	Shown      []string     `json:"told,omitempty"`
	Made       []made       `json:"made,omitempty"`
	Acted      []acted      `json:"acted,omitempty"`
	Asked      []string     `json:"asked,omitempty"`
	Prompted   []prompted   `json:"prompted,omitempty"`
	Unreported []unreported `json:"untold,omitempty"`
	// Revision is that of the newest registration that was seen.
	Revision int64 `json:"revision,omitempty"`
}

const version = 2

// parse reads the file from a plain object. A process reads one such file, and encoding/json would
// first prepare the type.
func (k *storedFile) parse(data []byte) error {
	top, err := jsontext.Object(data)
	if err != nil {
		return err
	}
	*k = storedFile{V: int(top.Number("v")), Project: top.Text("project"), Withheld: top.Text("withheld"), Shown: top.Texts("told"), Asked: top.Texts("asked"), Revision: top.Number("revision")}
	for _, m := range top.Objects("made") {
		k.Made = append(k.Made, made{Path: m.Text("path"), Begin: m.Number("begin"), File: m.Text("file"), Signed: m.Text("signed")})
	}
	for _, a := range top.Objects("acted") {
		k.Acted = append(k.Acted, acted{Call: a.Text("call"), Actions: a.Texts("actions")})
	}
	for _, p := range top.Objects("prompted") {
		k.Prompted = append(k.Prompted, prompted{Call: p.Text("call"), Mode: cardea.Mode(p.Text("mode")), Shown: p.Text("shown")})
	}
	for _, u := range top.Objects("untold") {
		k.Unreported = append(k.Unreported, unreported{Text: u.Text("text"), Signed: u.Text("signed")})
	}
	return top.Err()
}

// Load returns the stored data of a session, or a new session where the file cannot be read. A
// session without an id, and every session of a nil store, is new at every call.
func (s *Store) Load(harness, id string) (*Session, error) {
	if s == nil || id == "" {
		return &Session{fresh: true}, nil
	}
	sess := &Session{store: s, harness: harness, id: id, fresh: true}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		return sess, nil // Save makes the key, or reports what is wrong with it
	}
	sess.use(key)
	data, err := state.Read(sess.path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return sess, nil
	}
	if err == nil {
		object, lines, _ := bytes.Cut(data, []byte("\n"))
		sess.lines, err = lines, sess.stored.parse(object)
	}
	if sess.newer = err == nil && sess.stored.V > version; sess.newer {
		sess.stored, sess.lines = storedFile{}, nil
		return sess, fmt.Errorf("read session %s: a newer Cardea wrote it; it is begun anew, and the file is kept as %s", sess.path, sess.path+newerEnd)
	}
	if err == nil && sess.stored.V != version {
		err = fmt.Errorf("version %d is not known", sess.stored.V)
	}
	if err != nil {
		sess.stored, sess.lines = storedFile{}, nil
		return sess, fmt.Errorf("read session %s: %w; it is begun anew, and the file is replaced", sess.path, err)
	}
	sess.folder, sess.fresh = sess.stored.Project, false
	return sess, nil
}

// Outdated reports whether a registration is older than the newest one that an event of the session
// saw. A lost registration has revision 0. Outdated remembers a newer revision.
func (s *Session) Outdated(r Registered) bool {
	if r.Revision > s.stored.Revision {
		s.stored.Revision, s.dirty = r.Revision, true
	}
	return r.Revision < s.stored.Revision
}

// Key returns the user's key as read for this session, or nil.
func (s *Session) Key() []byte { return s.key }

// use sets the key and the path of the file.
func (s *Session) use(key []byte) {
	s.key = key
	s.path = filepath.Join(s.store.dir, s.digest(idPurpose, s.harness, s.id)+".json")
}

// digest returns the stored form of texts that may be secret.
func (s *Session) digest(purpose string, texts ...string) string {
	data := make([][]byte, len(texts))
	for i, t := range texts {
		data[i] = []byte(t)
	}
	return hex.EncodeToString(state.Sign(s.key, purpose, data...))
}

// First returns the folder of the session's first event. dir is the folder of this event, which is
// used if the session has none yet. It returns "" if that folder was withheld from the file and dir
// is not below it, since the project is then unknown.
func (s *Session) First(dir string) string {
	switch {
	case s.folder != "":
	case s.stored.Withheld != "":
		s.folder = s.above(dir)
	case dir != "" && len(dir) <= maxFile/4:
		s.folder, s.dirty = dir, true
	default:
		return dir
	}
	return s.folder
}

// above returns the withheld folder if it is dir or above it, else "".
func (s *Session) above(dir string) string {
	for range maxAbove {
		if dir == "" || s.digest(folderPurpose, dir) == s.stored.Withheld {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// IsNew reports whether a text was not shown to the person yet, and remembers it as shown.
func (s *Session) IsNew(text string) bool {
	if slices.Contains(s.shown, text) || s.key != nil && slices.Contains(s.stored.Shown, s.shownDigest(text)) {
		return false
	}
	s.shown, s.dirty = append(s.shown, text), true
	return true
}

// unreported is a text to show to the person. Signed is a digest that only this program can make.
type unreported struct {
	Text   string `json:"text"`
	Signed string `json:"signed"`
}

// maxUnreported is the largest number of such texts, maxUnreportedText the length of one in bytes.
const maxUnreported, maxUnreportedText = 8, 1 << 10

const unreportedPurpose = "session untold"

// Keep stores a text for the person until an event can show it.
func (s *Session) Keep(text string) {
	is := func(u unreported) bool { return u.Text == text }
	told := s.key != nil && slices.Contains(s.stored.Shown, s.shownDigest(text))
	if s.store == nil || told || len(text) > maxUnreportedText || slices.Contains(s.keeping, text) || slices.ContainsFunc(s.stored.Unreported, is) {
		return
	}
	s.keeping, s.dirty = append(s.keeping, text), true
}

// Stored returns the stored texts, and forgets them.
func (s *Session) Stored() (texts []string) {
	for _, u := range s.stored.Unreported {
		if u.Signed == s.digest(unreportedPurpose, s.harness, s.id, u.Text) {
			texts = append(texts, u.Text)
		}
	}
	s.dirty = s.dirty || len(s.stored.Unreported) > 0
	s.stored.Unreported = nil
	return texts
}

func (s *Session) shownDigest(text string) string { return s.digest(shownPurpose, text)[:24] }

// Save writes new data by rename, so that no reader sees half a file. It writes nothing if nothing
// is new. r decides whether the folder can be stored as it is. An error changes no verdict; it is
// for the person.
func (s *Session) Save(r *redact.Redactor) error {
	if s.store == nil || !s.dirty && len(s.leaving) == 0 {
		return nil
	}
	err, written := error(nil), false
	if !s.dirty {
		written, err = s.appendLines()
	}
	if !written && err == nil {
		err = s.save(r)
	}
	if err != nil {
		return fmt.Errorf("write session: %w; nothing of this session is remembered, so troubles are told at every call. Look at the owner and the space of %s", err, s.store.dir)
	}
	s.dirty = false
	return nil
}

// secret reports whether a path, or a name in it, looks like a secret.
func secret(r *redact.Redactor, path string) bool {
	names := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == filepath.Separator })
	return len(r.Find(path)) > 0 || slices.ContainsFunc(names, func(n string) bool { return len(r.Find(n)) > 0 })
}

// fill puts new data into the file's form.
func (s *Session) fill(r *redact.Redactor) {
	s.stored.V = version
	if s.stored.Project == "" && s.stored.Withheld == "" && s.folder != "" {
		if !secret(r, s.folder) {
			s.stored.Project = s.folder
		} else {
			s.stored.Withheld = s.digest(folderPurpose, s.folder)
		}
	}
	for _, text := range s.shown {
		s.stored.Shown = append(s.stored.Shown, s.shownDigest(text))
	}
	s.shown = nil
	for _, text := range s.keeping {
		shown := r.Show(text)
		s.stored.Unreported = append(s.stored.Unreported, unreported{shown, s.digest(unreportedPurpose, s.harness, s.id, shown)})
	}
	s.keeping, s.stored.Unreported = nil, last(s.stored.Unreported, maxUnreported)
	s.fillMade()
	s.fillActed()
	s.fillAsked()
	s.fillPrompted()
	s.stored.Shown = last(s.stored.Shown, maxShown)
}

// last returns the last n items of a list.
func last[T any](list []T, n int) []T { return slices.Delete(list, 0, max(0, len(list)-n)) }

// save writes the file. It creates a missing key, and removes old files for a new session.
func (s *Session) save(r *redact.Redactor) error {
	if s.key == nil {
		key, err := state.LoadKey(s.store.folder)
		if err != nil {
			return err
		}
		s.use(key)
	}
	var pruned error
	if s.fresh {
		pruned = state.Prune(s.store.dir, maxFiles-1, keepFiles)
	}
	s.fill(r)
	data, err := json.Marshal(s.stored)
	if err == nil && s.newer {
		err = os.Rename(s.path, s.path+newerEnd)
	}
	if err != nil {
		return err
	}
	s.newer = false
	if err := state.Write(s.path, append(data, '\n')); err != nil {
		return err
	}
	s.fresh = false
	return pruned
}
