package near

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/similar"
)

// Words finds lessons that share most of their words with a call.
type Words struct {
	// Threshold is the lowest Jaccard coefficient of the tokens.
	Threshold float64
	// MinWords is the fewest words of a call. The words of a shorter call prove too little.
	MinWords int
	opened   *opened
}

// NewWords returns a finder. It keeps the indexes that it opens, so use one finder for
// several calls.
func NewWords(threshold float64, minWords int) Words {
	return Words{threshold, minWords, &opened{indexes: map[*lesson.Store]openedIndex{}}}
}

// opened holds the indexes read so far.
type opened struct {
	mu      sync.Mutex
	indexes map[*lesson.Store]openedIndex
}

type openedIndex struct {
	section *lesson.SectionReader
	index   *similar.Index
}

// of returns the index of a store. The caller holds the lock until it has searched.
func (o *opened) of(s *lesson.Store, section *lesson.SectionReader) (*similar.Index, error) {
	if known, ok := o.indexes[s]; ok && known.section.Same(section) {
		return known.index, nil
	}
	index, err := similar.OpenAt(section, section.Size())
	if err == nil {
		o.indexes[s] = openedIndex{section, index}
	}
	return index, err
}

// Limits of a search: the number of lessons to find for each effect, and the number of
// allowing lessons to compare. All that ask or deny are compared.
const (
	mostFound = 8
	mostLooks = 2048
)

// Find searches the index of a store, and the lessons that are not in it. If the index
// fails, which an attacker may cause, Find reads asks and denies from the files.
func (w Words) Find(_ context.Context, src *lesson.Source, key *lesson.Key) ([]Like, error) {
	set := similar.Tokens(kindOf(key.Tool), key.Subject)
	if set.Words() < w.MinWords || set.Len() == 0 {
		return nil, nil
	}
	out, err := w.indexed(src.Store, set, key)
	if err != nil {
		src.Store.Distrust()
	}
	return append(out, w.unindexed(src.Store, set, key)...), nil
}

var errNoSection = errors.New("the index has no section for words")

// indexed searches the index of a store.
func (w Words) indexed(store *lesson.Store, set similar.Set, key *lesson.Key) (out []Like, err error) {
	section, ok := store.Section(w.name())
	if !ok {
		return nil, errNoSection
	}
	w.opened.mu.Lock()
	defer w.opened.mu.Unlock()
	index, err := w.opened.of(store, section)
	if err != nil {
		return nil, err
	}
	for _, effect := range [...]cardea.Effect{cardea.Ask, cardea.Deny, cardea.Allow} {
		q := similar.Query{Set: set, Group: groupOf(effect), Threshold: w.Threshold, Labels: []uint16{labelOf(lesson.AnyRole), labelOf(key.Role)}, Most: mostFound}
		if effect == cardea.Allow {
			q.Looks = mostLooks
		}
		found, err := index.Find(q)
		if err != nil {
			return out, err
		}
		for _, m := range found {
			if f, ok := section.At(m.Number); ok {
				out = append(out, Like{f, m.Score})
			}
		}
	}
	return out, nil
}

// unindexed returns the similar lessons that are not in the index.
func (w Words) unindexed(s *lesson.Store, set similar.Set, key *lesson.Key) (out []Like) {
	all := s.Unindexed()
	for i := range all {
		f := &all[i]
		if f.Role != lesson.AnyRole && f.Role != key.Role || kindOf(f.Tool) != kindOf(key.Tool) {
			continue
		}
		if score := similar.Jaccard(set, similar.Tokens(kindOf(f.Tool), f.Subject)); score >= w.Threshold && score > 0 {
			out = append(out, Like{f, score})
		}
	}
	return out
}

// Section returns the section of a lesson index that Find searches.
func (w Words) Section() lesson.Section {
	return lesson.Section{Name: w.name(),
		Note: func(b []byte, r *lesson.Record) []byte {
			e := similar.Entry{Set: similar.Tokens(kindOf(r.Tool), r.Subject), Group: groupOf(r.Effect), Label: labelOf(r.Role)}
			return e.Append(b)
		},
		Make: func(notes iter.Seq2[int, []byte]) []byte { return similar.Build(w.builtFor(), notes) }}
}

// usual is the threshold of an index, unless a setting is lower.
const usual = 0.7

// builtFor returns the lowest threshold at which the index finds all lessons.
func (w Words) builtFor() float64 { return min(w.Threshold, usual) }

// name returns the name of the section. Each threshold has its own section.
func (w Words) name() string { return fmt.Sprintf("words-1-%.4f", w.builtFor()) }

func groupOf(e cardea.Effect) similar.Group {
	switch e {
	case cardea.Ask:
		return 0
	case cardea.Deny:
		return 1
	}
	return 2
}

// labelOf returns a number for a role. Two roles may share a number, since the role of each
// lesson found is compared.
func labelOf(role string) uint16 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, role) // writing to a hash does not fail
	return uint16(h.Sum32())
}

// kindOf returns the kind of a tool. Calls of two kinds are never similar. All tools that
// change files are of one kind.
func kindOf(tool string) string {
	info, known := harness.Tool(tool)
	switch {
	case known && len(info.FieldsOf(harness.Command)) > 0:
		return "command"
	case known && info.EditsFiles:
		return "edit"
	}
	return tool
}
