// Package candidate stores the calls that a person allowed in their harness's own prompt, where
// Cardea had no opinion. They decide nothing. A person makes lessons of them ("cardea lessons
// learn"). The setting "learn: auto" makes lessons of those that only read.
//
// A stored call holds drafts of lessons, made while the harness showed the call. So a lesson is
// bound to the files that the person saw.
package candidate

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/lesson"
)

const (
	purpose     = "candidates for lessons"
	namePurpose = "name of candidates"
	idPurpose   = "candidate"
	// maxFile is the largest size of a project's file, in bytes. maxAnswered and maxShown are the
	// largest numbers of candidates in it, maxFiles the number of projects with a file.
	maxFile     = 4 << 20
	maxAnswered = 500
	maxShown    = 64
	maxFiles    = 512
	// maxAnswers is the largest number of answers stored for a candidate.
	maxAnswers = 20
	// maxDraft is the largest size of the drafts of one call, in bytes.
	maxDraft = 8 << 10
	// idSize is the length of an id.
	idSize = 8
)

// Candidate is a call that a person allowed, without its secrets.
type Candidate struct {
	// ID identifies it to people.
	ID string `json:"id"`
	// Drafts are the lessons that it would make.
	Drafts []queue.Lesson `json:"drafts"`
	// ReadsOnly is set where every effect of the call is known, and it only reads.
	ReadsOnly bool `json:"reads_only,omitempty"`
	// Answers are the times when the person allowed it with the same files, oldest first.
	Answers []time.Time `json:"answers,omitempty"`
	// Ran are the times when it ran without a known permission of a person, oldest first. The store
	// does not save them, and they are not answers.
	Ran []time.Time `json:"ran,omitempty"`
	// Input is the input that ran, if the subject is a digest of it. The store does not save it.
	Input redact.Text `json:"input,omitzero"`
}

// Lessons returns the drafts as lessons of a named person.
func (c *Candidate) Lessons(who, reason redact.Text, when time.Time) []lesson.Draft {
	var out []lesson.Draft
	for _, d := range c.Drafts {
		out = append(out, lesson.Draft{Effect: cardea.Allow, Tool: d.Tool, Subject: d.Subject, Role: d.Role, Dir: d.Dir, Kind: d.Kind, Unsandboxed: d.Unsandboxed,
			Files: d.Files, By: lesson.ByPerson, Who: who, Reason: reason, When: when})
	}
	return out
}

// Drafts returns drafts of lessons without the fields that are added when they are written.
func Drafts(of []lesson.Draft) []queue.Lesson {
	drafts := make([]queue.Lesson, len(of))
	for i, d := range of {
		drafts[i] = queue.Lesson{Tool: d.Tool, Subject: d.Subject, Role: d.Role, Dir: d.Dir, Kind: d.Kind, Unsandboxed: d.Unsandboxed, Files: d.Files}
	}
	return drafts
}

// Days returns the number of different days in UTC among the times.
func Days(times []time.Time) int {
	days := map[string]bool{}
	for _, t := range times {
		days[t.UTC().Format(time.DateOnly)] = true
	}
	return len(days)
}

// Subjects returns the tools and subjects of the drafts, joined by "; ".
func (c *Candidate) Subjects() string {
	var out []string
	for _, d := range c.Drafts {
		out = append(out, strings.TrimSpace(d.Tool.String()+" "+d.Subject.String()))
	}
	return strings.Join(out, "; ")
}

// Store stores the candidates of a project.
type Store struct{ folder, project string }

// New returns the store of a project. folder is the state folder.
func New(folder, project string) Store { return Store{folder, project} }

// shown is a call that the harness shows. Call is its [session.Session.CallID].
type shown struct {
	Call string `json:"call"`
	Candidate
}

// storedFile is the file of a project.
type storedFile struct {
	Shown    []shown     `json:"shown,omitempty"`
	Answered []Candidate `json:"answered,omitempty"`
}

// Of returns a candidate of drafts of lessons. key is the user's key.
func Of(key []byte, of []lesson.Draft, readsOnly bool) Candidate {
	drafts := Drafts(of)
	return Candidate{Drafts: drafts, ReadsOnly: readsOnly, ID: idOf(key, drafts)}
}

// Showing stores the lessons that a call would teach, while the harness shows it.
func (s Store) Showing(call string, of []lesson.Draft, readsOnly bool) error {
	text, err := json.Marshal(Drafts(of))
	if err != nil {
		return err
	}
	if call == "" || len(text) > maxDraft {
		return nil
	}
	return s.change(func(k *storedFile, key []byte) {
		k.Shown = append(slices.DeleteFunc(k.Shown, func(x shown) bool { return x.Call == call }), shown{call, Of(key, of, readsOnly)})
		k.Shown = k.Shown[max(0, len(k.Shown)-maxShown):]
	})
}

// Ran turns a call that was shown into a candidate, or adds an answer to an existing one. It
// returns nil for an unknown call.
func (s Store) Ran(call string, when time.Time) (c *Candidate, err error) {
	err = s.change(func(k *storedFile, _ []byte) {
		i := slices.IndexFunc(k.Shown, func(x shown) bool { return x.Call == call })
		if i < 0 {
			return
		}
		now := k.Shown[i].Candidate
		k.Shown = slices.Delete(k.Shown, i, i+1)
		if j := slices.IndexFunc(k.Answered, func(x Candidate) bool { return x.ID == now.ID }); j >= 0 {
			if sameFiles(k.Answered[j].Drafts, now.Drafts) {
				now.Answers = k.Answered[j].Answers
			}
			k.Answered = slices.Delete(k.Answered, j, j+1)
		}
		now.Answers = append(now.Answers, when.UTC().Truncate(time.Second))
		now.Answers = now.Answers[max(0, len(now.Answers)-maxAnswers):]
		k.Answered = append(k.Answered, now)
		k.Answered = k.Answered[max(0, len(k.Answered)-maxAnswered):]
		c = &now
	})
	return c, err
}

// All returns the candidates, the latest first.
func (s Store) All() ([]Candidate, error) {
	key, err := state.ReadKey(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k, err := s.read(key)
	slices.Reverse(k.Answered)
	return k.Answered, err
}

// Remove removes candidates.
func (s Store) Remove(ids ...string) error {
	return s.change(func(k *storedFile, _ []byte) {
		k.Answered = slices.DeleteFunc(k.Answered, func(c Candidate) bool { return slices.Contains(ids, c.ID) })
	})
}

// idOf returns the id of a candidate, made from everything but the files.
func idOf(key []byte, drafts []queue.Lesson) string {
	var words [][]byte
	for _, d := range drafts {
		for _, t := range []redact.Text{d.Tool, d.Subject, d.Role, d.Dir} {
			words = append(words, []byte(t.String()))
		}
		words = append(words, []byte(d.Kind), fmt.Append(nil, d.Unsandboxed))
	}
	return hex.EncodeToString(state.Sign(key, idPurpose, words...))[:idSize]
}

func sameFiles(a, b []queue.Lesson) bool {
	return slices.EqualFunc(a, b, func(x, y queue.Lesson) bool { return maps.Equal(x.Files, y.Files) })
}

func (s Store) path(key []byte) string {
	return filepath.Join(s.folder, "candidates", hex.EncodeToString(state.Sign(key, namePurpose, []byte(s.project)))[:40]+".signed")
}

// read returns the stored data. A file that this user's Cardea did not write is treated as empty.
func (s Store) read(key []byte) (k storedFile, err error) {
	path := s.path(key)
	err = state.ReadSignedJSON(path, key, purpose, s.project, maxFile, &k)
	if errors.Is(err, fs.ErrNotExist) {
		return storedFile{}, nil
	}
	if err != nil {
		return storedFile{}, fmt.Errorf("read the candidates for lessons %s: %w; remove it, and they are collected anew", path, err)
	}
	return k, nil
}

// change changes the stored data. Concurrent changes wait for each other.
func (s Store) change(do func(k *storedFile, key []byte)) error {
	if s.folder == "" || s.project == "" {
		return nil // there is no folder to store it in, and other messages report that
	}
	key, err := state.LoadKey(s.folder)
	if err != nil {
		return err
	}
	path := s.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep a candidate for a lesson: %w", err)
	}
	lock, err := state.OpenLocked(filepath.Join(s.folder, "candidates.lock"), limit.LedgerWrite)
	if err != nil {
		return fmt.Errorf("keep a candidate for a lesson: %w", err)
	}
	defer lock.Close()
	k, err := s.read(key)
	if err != nil {
		return err
	}
	do(&k, key)
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if !state.Exists(path) {
		if err := state.Prune(filepath.Dir(path), maxFiles-1, maxFiles/2); err != nil {
			return err
		}
	}
	for len(text) > maxFile && len(k.Answered) > 0 {
		k.Answered = k.Answered[(len(k.Answered)+1)/2:]
		if text, err = json.Marshal(k); err != nil {
			return err
		}
	}
	return state.WriteSigned(path, key, purpose, s.project, text)
}
