// Package session remembers what belongs to one session of a harness beyond
// one hook process: the folder in which the session began, and which troubles
// the person was already told.
//
// A session's id comes from the wire, so it is never part of a path: the file
// is named by a digest. Digests are made with the user's key, since what comes
// from the wire may be a secret that can be guessed. The folder is kept as it
// is, unless it looks like a secret: then its digest is kept, which tells the
// folder again when an event comes from it or from below.
//
// A file is written only when something is new, because
// the hook runs for every call: an object, and behind it a line for each call that began
// since (prompted.go). Two hooks of one session may write at the same
// time; the last one wins, and what is lost is shown once more, which is better
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
	// maxShown is how many troubles a session remembers. Then the oldest are
	// forgotten, and may be shown again.
	maxShown = 256
	// maxFile is how much of a session's file is read, in bytes. A full one
	// has less than a quarter of it.
	maxFile = 64 << 10
	// maxFiles is how many sessions are kept, and keepFiles how many are left
	// when there are more.
	maxFiles, keepFiles = 1000, 750
	// maxAbove is how many folders above an event's are compared with a
	// withheld one.
	maxAbove = 128
)

// What the user's key signs here.
const (
	idPurpose     = "session id"
	folderPurpose = "session folder"
	shownPurpose  = "session told"
)

// Store is the folder of all sessions.
type Store struct {
	// folder is the state folder, and dir the folder of the sessions in it.
	folder, dir string
}

// Open gives the store below a state folder. It touches nothing. refuse, if
// not nil, says why a folder cannot be trusted with state ("" if it can): the
// caller knows the project and the user. An error says what to do; the store
// is then nil, and a nil store remembers nothing.
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

// Session is what is known of one session.
type Session struct {
	// store is nil where nothing is remembered.
	store       *Store
	harness, id string
	// key is nil as long as there is none: then there is no file either.
	key  []byte
	path string
	kept kept
	// folder is the folder of the first event, "" where it is not known.
	folder string
	// shown are texts that were shown and are not among kept.Shown.
	shown []string
	// keeping are texts to be shown later that are not among kept.Untold yet.
	keeping []string
	// making are files that are not among kept.Made yet.
	making []making
	// acting is what is not among kept.Acted yet, nil where nothing is.
	acting *acting
	// asking are calls that are not among kept.Asked yet.
	asking []string
	// leaving are calls that are not among kept.Prompted yet.
	leaving []leaving
	// lines are calls that began, behind the object in the file, as they stand there.
	lines []byte
	// taken is set where lines that stand in the file are among kept.Prompted, too.
	taken bool
	// fresh is set where there is no file yet, dirty where it is not current.
	fresh, dirty bool
	// newer is set where the file is one of a newer Cardea.
	newer bool
}

// newerEnd ends the name under which the file of a newer Cardea is kept.
const newerEnd = ".newer"

// kept is the file. Project is the folder of the first event, or Withheld its
// digest.
type kept struct {
	V        int        `json:"v"`
	Project  string     `json:"project,omitempty"`
	Withheld string     `json:"withheld,omitempty"`
	Shown    []string   `json:"told,omitempty"`
	Made     []made     `json:"made,omitempty"`
	Acted    []acted    `json:"acted,omitempty"`
	Asked    []string   `json:"asked,omitempty"`
	Prompted []prompted `json:"prompted,omitempty"`
	Untold   []untold   `json:"untold,omitempty"`
	// Revision is that of the newest registration that was seen.
	Revision int64 `json:"revision,omitempty"`
}

const version = 2

// parse reads the file. It takes the fields from a plain object: a process reads one
// such file, for which encoding/json would first prepare the type.
func (k *kept) parse(data []byte) error {
	top, err := jsontext.Object(data)
	if err != nil {
		return err
	}
	*k = kept{V: int(top.Number("v")), Project: top.Text("project"), Withheld: top.Text("withheld"), Shown: top.Texts("told"), Asked: top.Texts("asked"), Revision: top.Number("revision")}
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
		k.Untold = append(k.Untold, untold{Text: u.Text("text"), Signed: u.Text("signed")})
	}
	return top.Err()
}

// Load reads what is known of a session. It always gives a session, a new one
// where the file cannot be read. A session without an id, and every session of
// a nil store, is new at every call.
func (s *Store) Load(harness, id string) (*Session, error) {
	if s == nil || id == "" {
		return &Session{fresh: true}, nil
	}
	sess := &Session{store: s, harness: harness, id: id, fresh: true}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		return sess, nil // Save makes the key, or tells what is wrong with it
	}
	sess.use(key)
	data, err := state.Read(sess.path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return sess, nil
	}
	if err == nil {
		object, lines, _ := bytes.Cut(data, []byte("\n"))
		sess.lines, err = lines, sess.kept.parse(object)
	}
	if sess.newer = err == nil && sess.kept.V > version; sess.newer {
		sess.kept, sess.lines = kept{}, nil
		return sess, fmt.Errorf("read session %s: a newer Cardea wrote it; it is begun anew, and the file is kept as %s", sess.path, sess.path+newerEnd)
	}
	if err == nil && sess.kept.V != version {
		err = fmt.Errorf("version %d is not known", sess.kept.V)
	}
	if err != nil {
		sess.kept, sess.lines = kept{}, nil
		return sess, fmt.Errorf("read session %s: %w; it is begun anew, and the file is replaced", sess.path, err)
	}
	sess.folder, sess.fresh = sess.kept.Project, false
	return sess, nil
}

// Outdated reports whether a registration is older than the newest one that an event of the
// session saw. A lost registration has revision 0. Outdated remembers a newer revision.
func (s *Session) Outdated(r Registered) bool {
	if r.Revision > s.kept.Revision {
		s.kept.Revision, s.dirty = r.Revision, true
	}
	return r.Revision < s.kept.Revision
}

// Key is the user's key as it was read for this session, nil where it was not.
func (s *Session) Key() []byte { return s.key }

// use names the file with a key.
func (s *Session) use(key []byte) {
	s.key = key
	s.path = filepath.Join(s.store.dir, s.digest(idPurpose, s.harness, s.id)+".json")
}

// digest is what can be kept of texts that may be secret.
func (s *Session) digest(purpose string, texts ...string) string {
	data := make([][]byte, len(texts))
	for i, t := range texts {
		data[i] = []byte(t)
	}
	return hex.EncodeToString(state.Sign(s.key, purpose, data...))
}

// First is the folder of the session's first event: dir where this is the
// first one that says where it is. It is "" where that folder was withheld from
// the file and dir is not in it; then it is not known whose project this is.
func (s *Session) First(dir string) string {
	switch {
	case s.folder != "":
	case s.kept.Withheld != "":
		s.folder = s.above(dir)
	case dir != "" && len(dir) <= maxFile/4:
		s.folder, s.dirty = dir, true
	default:
		return dir
	}
	return s.folder
}

// above is the withheld folder, if it is dir or above it.
func (s *Session) above(dir string) string {
	for range maxAbove {
		if dir == "" || s.digest(folderPurpose, dir) == s.kept.Withheld {
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

// IsNew reports whether the person is still to be told a text, and remembers
// that they now are.
func (s *Session) IsNew(text string) bool {
	if slices.Contains(s.shown, text) || s.key != nil && slices.Contains(s.kept.Shown, s.shownDigest(text)) {
		return false
	}
	s.shown, s.dirty = append(s.shown, text), true
	return true
}

// untold is a text that the person is to be shown. Signed is a digest that only this program
// can make.
type untold struct {
	Text   string `json:"text"`
	Signed string `json:"signed"`
}

// maxUntold is how many texts are kept to be shown, maxUntoldText how long one may be.
const maxUntold, maxUntoldText = 8, 1 << 10

const untoldPurpose = "session untold"

// Keep keeps a text that the person is to be shown, as long as no event shows it.
func (s *Session) Keep(text string) {
	is := func(u untold) bool { return u.Text == text }
	told := s.key != nil && slices.Contains(s.kept.Shown, s.shownDigest(text))
	if s.store == nil || told || len(text) > maxUntoldText || slices.Contains(s.keeping, text) || slices.ContainsFunc(s.kept.Untold, is) {
		return
	}
	s.keeping, s.dirty = append(s.keeping, text), true
}

// Kept returns the texts that were kept, and forgets them.
func (s *Session) Kept() (texts []string) {
	for _, u := range s.kept.Untold {
		if u.Signed == s.digest(untoldPurpose, s.harness, s.id, u.Text) {
			texts = append(texts, u.Text)
		}
	}
	s.dirty = s.dirty || len(s.kept.Untold) > 0
	s.kept.Untold = nil
	return texts
}

func (s *Session) shownDigest(text string) string { return s.digest(shownPurpose, text)[:24] }

// Save writes what is new, by rename, so that no reader sees half a file. It
// writes nothing where nothing is new. r tells whether the folder can be
// written down. An error changes no verdict; it is for the person.
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

// secret reports whether a path looks like one, whole or in one of its names.
func secret(r *redact.Redactor, path string) bool {
	names := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == filepath.Separator })
	return len(r.Find(path)) > 0 || slices.ContainsFunc(names, func(n string) bool { return len(r.Find(n)) > 0 })
}

// fill puts into the file's form what is new.
func (s *Session) fill(r *redact.Redactor) {
	s.kept.V = version
	if s.kept.Project == "" && s.kept.Withheld == "" && s.folder != "" {
		if !secret(r, s.folder) {
			s.kept.Project = s.folder
		} else {
			s.kept.Withheld = s.digest(folderPurpose, s.folder)
		}
	}
	for _, text := range s.shown {
		s.kept.Shown = append(s.kept.Shown, s.shownDigest(text))
	}
	s.shown = nil
	for _, text := range s.keeping {
		shown := r.Show(text)
		s.kept.Untold = append(s.kept.Untold, untold{shown, s.digest(untoldPurpose, s.harness, s.id, shown)})
	}
	s.keeping, s.kept.Untold = nil, last(s.kept.Untold, maxUntold)
	s.fillMade()
	s.fillActed()
	s.fillAsked()
	s.fillPrompted()
	s.kept.Shown = last(s.kept.Shown, maxShown)
}

// last keeps the last n of a list, without those before them.
func last[T any](list []T, n int) []T { return slices.Delete(list, 0, max(0, len(list)-n)) }

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
	data, err := json.Marshal(s.kept)
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
