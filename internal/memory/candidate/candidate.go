// Package candidate keeps the calls that a person allowed in their harness's own prompt,
// where Cardea had said nothing. They decide nothing. A person makes lessons of them
// ("cardea lessons learn"), or the setting "learn: auto" does of those that only read.
//
// What is kept of a call are drafts of lessons, made while the harness showed it: the files
// to which they are bound are those that the person saw.
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
	// maxFile bounds the file of a project, in bytes, maxAnswered and maxShown the
	// candidates in it, maxFiles how many projects have one.
	maxFile     = 4 << 20
	maxAnswered = 500
	maxShown    = 64
	maxFiles    = 512
	// maxAnswers is how many answers are kept of one.
	maxAnswers = 20
	// maxDraft bounds what one call leaves, in bytes.
	maxDraft = 8 << 10
	// idSize is the length of an id.
	idSize = 8
)

// Candidate is a call that a person allowed, without its secrets.
type Candidate struct {
	// ID names it to people.
	ID string `json:"id"`
	// Drafts are the lessons that it would make.
	Drafts []queue.Lesson `json:"drafts"`
	// ReadsOnly is set where everything that the call does is known, and it writes,
	// deletes and contacts nothing.
	ReadsOnly bool `json:"reads_only,omitempty"`
	// Answers are when the person allowed it with the same files, oldest first.
	Answers []time.Time `json:"answers,omitempty"`
	// Ran are when it ran while nothing shows that a person allowed it, oldest first. They
	// are not kept in the store, and are no answers.
	Ran []time.Time `json:"ran,omitempty"`
	// Input has the input that ran, where the subject is a digest of it. The store does not keep it.
	Input redact.Text `json:"input,omitzero"`
}

// Lessons are the drafts as lessons of a person, who is named.
func (c *Candidate) Lessons(who, reason redact.Text, when time.Time) []lesson.Draft {
	var out []lesson.Draft
	for _, d := range c.Drafts {
		out = append(out, lesson.Draft{Effect: cardea.Allow, Tool: d.Tool, Subject: d.Subject, Role: d.Role, Dir: d.Dir, Kind: d.Kind, Unsandboxed: d.Unsandboxed,
			Files: d.Files, By: lesson.ByPerson, Who: who, Reason: reason, When: when})
	}
	return out
}

// Drafts are drafts of lessons without what only their writing adds.
func Drafts(of []lesson.Draft) []queue.Lesson {
	drafts := make([]queue.Lesson, len(of))
	for i, d := range of {
		drafts[i] = queue.Lesson{Tool: d.Tool, Subject: d.Subject, Role: d.Role, Dir: d.Dir, Kind: d.Kind, Unsandboxed: d.Unsandboxed, Files: d.Files}
	}
	return drafts
}

// Days are on how many different days in UTC the times are.
func Days(times []time.Time) int {
	days := map[string]bool{}
	for _, t := range times {
		days[t.UTC().Format(time.DateOnly)] = true
	}
	return len(days)
}

// Subjects are what the drafts are about.
func (c *Candidate) Subjects() string {
	var out []string
	for _, d := range c.Drafts {
		out = append(out, strings.TrimSpace(d.Tool.String()+" "+d.Subject.String()))
	}
	return strings.Join(out, "; ")
}

// Store keeps the candidates of a project.
type Store struct{ folder, project string }

// New makes the store of a project. folder is the state folder.
func New(folder, project string) Store { return Store{folder, project} }

// shown is a call that the harness shows. Call is [session.Session.CallID].
type shown struct {
	Call string `json:"call"`
	Candidate
}

// kept is the file of a project.
type kept struct {
	Shown    []shown     `json:"shown,omitempty"`
	Answered []Candidate `json:"answered,omitempty"`
}

// Of makes a candidate of drafts of lessons. key is the user's.
func Of(key []byte, of []lesson.Draft, readsOnly bool) Candidate {
	drafts := Drafts(of)
	return Candidate{Drafts: drafts, ReadsOnly: readsOnly, ID: idOf(key, drafts)}
}

// Showing keeps what a call would teach, as long as the harness shows it.
func (s Store) Showing(call string, of []lesson.Draft, readsOnly bool) error {
	text, err := json.Marshal(Drafts(of))
	if err != nil {
		return err
	}
	if call == "" || len(text) > maxDraft {
		return nil
	}
	return s.change(func(k *kept, key []byte) {
		k.Shown = append(slices.DeleteFunc(k.Shown, func(x shown) bool { return x.Call == call }), shown{call, Of(key, of, readsOnly)})
		k.Shown = k.Shown[max(0, len(k.Shown)-maxShown):]
	})
}

// Ran makes a candidate of a call that was shown, or another answer of one that there is
// already. It is nil where nothing was kept of the call.
func (s Store) Ran(call string, when time.Time) (c *Candidate, err error) {
	err = s.change(func(k *kept, _ []byte) {
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

// All are the candidates, the latest first.
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

// Remove forgets candidates.
func (s Store) Remove(ids ...string) error {
	return s.change(func(k *kept, _ []byte) {
		k.Answered = slices.DeleteFunc(k.Answered, func(c Candidate) bool { return slices.Contains(ids, c.ID) })
	})
}

// idOf names a candidate by everything but the files.
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

// read gives what is kept. What this user's Cardea did not write is nothing.
func (s Store) read(key []byte) (k kept, err error) {
	path := s.path(key)
	err = state.ReadSignedJSON(path, key, purpose, s.project, maxFile, &k)
	if errors.Is(err, fs.ErrNotExist) {
		return kept{}, nil
	}
	if err != nil {
		return kept{}, fmt.Errorf("read the candidates for lessons %s: %w; remove it, and they are collected anew", path, err)
	}
	return k, nil
}

// change changes what is kept. Of several processes each sees what the one before wrote.
func (s Store) change(do func(k *kept, key []byte)) error {
	if s.folder == "" || s.project == "" {
		return nil // there is nowhere to keep anything, and other messages say so
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
