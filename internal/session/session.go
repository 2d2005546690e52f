// Package session keeps what must outlive one hook process and concerns one
// session of one harness: the folder in which the session began, and which
// troubles the person was told already.
//
// A session's id comes from the wire, so it is never part of a path: the file
// is named by a digest. A file is written only when something is new, because
// the hook runs for every call. Two hooks of one session may write at the same
// time; the last one wins, and what is lost is told once more, which is better
// than a lock that an agent could hold.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

const (
	// maxTold is how many troubles a session remembers; then the oldest are
	// forgotten, and may be told again.
	maxTold = 256
	// maxFile is how much of a session's file is read, in bytes. A full one
	// has less than a quarter of it.
	maxFile = 64 << 10
	// maxFiles is how many sessions are kept, and keepFiles how many are left
	// when there are more.
	maxFiles, keepFiles = 1000, 750
)

// Store is the folder of all sessions.
type Store struct {
	dir string
}

// Open gives the store below a state folder. It touches nothing. refuse, if
// not nil, says why a folder cannot be trusted with state ("" if it can): the
// caller knows the project and the user. An error says what to do; the store
// is then nil, and a nil store remembers nothing.
func Open(state string, refuse func(dir string) string) (*Store, error) {
	if state == "" {
		return nil, errors.New("there is no state folder, so nothing is remembered between calls; set HOME or XDG_STATE_HOME")
	}
	if refuse != nil {
		if why := refuse(state); why != "" {
			return nil, fmt.Errorf("the state folder %s %s, so nothing is remembered between calls; set XDG_STATE_HOME to a folder of yours outside of the project", state, why)
		}
	}
	return &Store{dir: filepath.Join(state, "sessions")}, nil
}

// Session is what is known of one session.
type Session struct {
	path string
	kept kept
	// fresh is set where there is no file yet, dirty where it is not current.
	fresh, dirty bool
}

// kept is the file.
type kept struct {
	V       int      `json:"v"`
	Project string   `json:"project"`
	Told    []string `json:"told,omitempty"`
}

// Load reads what is known of a session. It always gives a session, a new one
// where the file cannot be read. A session without an id, and every session of
// a nil store, is new at every call.
func (s *Store) Load(harness, id string) (*Session, error) {
	if s == nil || id == "" {
		return &Session{fresh: true}, nil
	}
	sum := sha256.Sum256([]byte(harness + "\x00" + id))
	sess := &Session{path: filepath.Join(s.dir, hex.EncodeToString(sum[:])+".json"), fresh: true}
	data, err := readFile(sess.path)
	if errors.Is(err, os.ErrNotExist) {
		return sess, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &sess.kept)
	}
	if err == nil && sess.kept.V != 1 {
		err = fmt.Errorf("version %d is not known", sess.kept.V)
	}
	if err != nil {
		sess.kept = kept{}
		return sess, fmt.Errorf("read session %s: %w; it is begun anew, and the file is replaced", sess.path, err)
	}
	sess.fresh = false
	return sess, nil
}

// readFile reads a regular file of bounded size.
func readFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return data, err
}

// First is the folder of the session's first event: dir where this is the
// first one that says where it is.
func (s *Session) First(dir string) string {
	if s.kept.Project == "" && dir != "" && len(dir) <= maxFile/4 {
		s.kept.Project, s.dirty = dir, true
	}
	if s.kept.Project == "" {
		return dir
	}
	return s.kept.Project
}

// Known is the folder of the session's first event, or "" where none was kept.
func (s *Session) Known() string { return s.kept.Project }

// Tell reports whether the person is still to be told a text, and remembers
// that they now are.
func (s *Session) Tell(text string) bool {
	sum := sha256.Sum256([]byte(text))
	key := hex.EncodeToString(sum[:12])
	if slices.Contains(s.kept.Told, key) {
		return false
	}
	s.kept.Told = append(s.kept.Told, key)
	if over := len(s.kept.Told) - maxTold; over > 0 {
		s.kept.Told = slices.Delete(s.kept.Told, 0, over)
	}
	s.dirty = true
	return true
}

// Save writes what is new, by rename, so that no reader sees half a file. It
// writes nothing where nothing is new. An error changes no verdict; it is for
// the person.
func (s *Session) Save() error {
	if !s.dirty || s.path == "" {
		return nil
	}
	if err := s.save(); err != nil {
		return fmt.Errorf("write session: %w; nothing of this session is remembered, so troubles are told at every call. Look at the owner and the space of %s", err, filepath.Dir(s.path))
	}
	s.dirty = false
	return nil
}

func (s *Session) save() error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var pruned error
	if s.fresh {
		pruned = prune(dir)
	}
	s.kept.V = 1
	data, err := json.Marshal(s.kept)
	if err != nil {
		return err
	}
	if err := replace(s.path, append(data, '\n')); err != nil {
		return err
	}
	s.fresh = false
	return pruned
}

// replace writes a file of mode 0600 beside path and renames it.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// prune removes the oldest files where there are too many. It runs when a
// session begins, which is rare, and looks at a bounded number of files.
func prune(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := d.Readdirnames(4 * maxFiles)
	if e := d.Close(); e != nil {
		return e
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(names) < maxFiles {
		return nil
	}
	type file struct {
		path string
		when int64
	}
	var files []file
	for _, n := range names {
		if !strings.HasSuffix(n, ".json") && !strings.HasPrefix(n, ".new-") {
			continue
		}
		path := filepath.Join(dir, n)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, file{path, info.ModTime().UnixNano()})
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].when < files[j].when })
	var errs []error
	for _, f := range files[:max(0, len(files)-keepFiles)] {
		if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
