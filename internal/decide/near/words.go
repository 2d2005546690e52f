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
	// MinWords is how many words a call needs: of a shorter one, words say too little.
	MinWords int
	opened   *opened
}

// NewWords makes a finder. It keeps what it reads of indexes: who asks more than once keeps
// the finder.
func NewWords(threshold float64, minWords int) Words {
	return Words{threshold, minWords, &opened{indexes: map[*lesson.Store]openedIndex{}}}
}

// opened are indexes that were read from.
type opened struct {
	mu      sync.Mutex
	indexes map[*lesson.Store]openedIndex
}

type openedIndex struct {
	section *lesson.SectionReader
	index   *similar.Index
}

// of is the index of a store. Who calls it holds the lock until it has looked.
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

// Limits of a search: how many lessons of an effect are wanted, and how many that allow
// are looked at. Those that ask or deny are all looked at.
const (
	mostFound = 8
	mostLooks = 2048
)

// Find looks into the index of a store, and at what is not in it. Where the index fails,
// which somebody may have seen to, the files themselves tell what they deny and ask.
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

// indexed looks into the index of a store.
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

// unindexed compares the lessons that are not in the index.
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

// Section is the piece of an index of lessons in which Find looks.
func (w Words) Section() lesson.Section {
	return lesson.Section{Name: w.name(),
		Note: func(b []byte, r *lesson.Record) []byte {
			e := similar.Entry{Set: similar.Tokens(kindOf(r.Tool), r.Subject), Group: groupOf(r.Effect), Label: labelOf(r.Role)}
			return e.Append(b)
		},
		Make: func(notes iter.Seq2[int, []byte]) []byte { return similar.Build(w.builtFor(), notes) }}
}

// usual is the threshold for which an index is made, if no setting is lower.
const usual = 0.7

// builtFor is the lowest threshold for which the index finds all.
func (w Words) builtFor() float64 { return min(w.Threshold, usual) }

// name is that of the section: an index for another threshold is another one.
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

// labelOf is a number for a role. Two roles may share one: a lesson that is found is
// looked at as a whole.
func labelOf(role string) uint16 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, role) // a hash takes everything
	return uint16(h.Sum32())
}

// kindOf sorts tools: calls of two kinds are never alike. All tools that change files are
// of one kind.
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
