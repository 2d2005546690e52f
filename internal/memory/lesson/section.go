package lesson

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"

	"cardea.dev/internal/base/state"
)

// Section is a piece of the index that another package makes and reads, such as one that finds
// lessons by their tokens. It is made together with the index, and is only valid with it.
type Section struct {
	// Name is the name of the section, with a version of its form.
	Name string
	// Note appends the section's data about a lesson to b when the lesson's line is read. It must
	// be safe for concurrent use.
	Note func(b []byte, r *Record) []byte
	// Make returns the content of the section. notes yields the number and the note of each lesson,
	// in the order of the files. The number identifies the lesson in [SectionReader.At].
	Make func(notes iter.Seq2[int, []byte]) []byte
}

// noted holds the notes of a section on the lessons of a piece of a file, in their order.
type noted struct {
	file uint8
	// offsets are the offsets of the lines in the file, ends the ends of their notes in text.
	offsets []uint64
	ends    []uint32
	text    []byte
}

// add adds the note of a line.
func (n *noted) add(s *Section, l *parsedLine, offset uint64) {
	n.text = s.Note(n.text, &l.Record)
	n.offsets, n.ends = append(n.offsets, offset), append(n.ends, uint32(len(n.text)))
}

// The position of a lesson in the files is packed into 64 bits: file, offset and number.
const (
	numberBits = 28
	offsetBits = 34
)

// inFiles returns the positions of entries, in the order of the files.
func inFiles(entries []entry) []uint64 {
	out := make([]uint64, 0, len(entries))
	for i := range entries {
		if e := &entries[i]; e.offset>>offsetBits == 0 && i>>numberBits == 0 {
			out = append(out, uint64(e.file)<<(offsetBits+numberBits)|e.offset<<numberBits|uint64(i))
		}
	}
	slices.Sort(out)
	return out
}

// notesOf yields the notes of the lessons at these positions, with their numbers. It skips lines
// without an entry, such as duplicates.
func notesOf(places []uint64, pieces []noted) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		left := places
		for _, p := range pieces {
			begin := uint32(0)
			for i, end := range p.ends {
				here := uint64(p.file)<<offsetBits | p.offsets[i]
				for len(left) > 0 && left[0]>>numberBits < here {
					left = left[1:]
				}
				if len(left) > 0 && left[0]>>numberBits == here && !yield(int(left[0]&(1<<numberBits-1)), p.text[begin:end]) {
					return
				}
				begin = end
			}
		}
	}
}

// SectionReader reads a section of the current index.
type SectionReader struct {
	store *Store
	pages *pages
	of    section
	keys  section
}

// Section returns a reader of a section. It returns false without an index or without this section
// in it. [Store.Unindexed] has the lessons that the index does not cover.
func (s *Store) Section(name string) (*SectionReader, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	if s.head == nil || s.pages == nil {
		return nil, false
	}
	of, ok := s.head.section(name)
	keys, ok2 := s.head.section(keysSection)
	return &SectionReader{s, s.pages, of, keys}, ok && ok2
}

// Lacks reports whether the index lacks a section, so that it must be rebuilt.
func (s *Store) Lacks(name string) (lacks bool) {
	s.looking(func() {
		if s.head != nil && s.pages != nil {
			_, has := s.head.section(name)
			lacks = !has
		}
	})
	return lacks
}

// Same reports whether two readers read the same section of the same index.
func (r *SectionReader) Same(other *SectionReader) bool {
	return r.store == other.store && r.pages == other.pages && r.of == other.of
}

// Size returns the size of the section in bytes.
func (r *SectionReader) Size() int64 { return int64(r.of.size) }

// Distrust discards the index and reads the files themselves. [Store.Unindexed] then returns their
// lessons, and the index must be rebuilt. Callers use it for a missing or invalid section, since
// denies and asks of lessons must not depend on it.
func (s *Store) Distrust() {
	s.looking(func() {
		if s.head != nil && s.pages != nil {
			s.distrust()
		}
	})
}

// Count returns the number of lessons in the index.
func (r *SectionReader) Count() int { return int(r.keys.size / entrySize) }

// ReadAt reads from the section, and checks the signature of the pages. A page that was changed is
// an error.
func (r *SectionReader) ReadAt(b []byte, off int64) (int, error) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	n := min(int64(len(b)), max(0, int64(r.of.size)-off))
	got, err := r.pages.read(r.of, uint64(off), uint64(n))
	if err == nil && n < int64(len(b)) {
		err = io.EOF
	}
	return copy(b, got), err
}

// At returns the lesson with a number. It returns false if the lesson's file changed after the
// index was made. [Store.Unindexed] then has the lesson, if it still exists.
func (r *SectionReader) At(number int) (*Found, bool) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	if number < 0 || number >= r.Count() {
		return nil, false
	}
	b, err := r.pages.page(r.keys.first + uint64(number/perPage))
	if err != nil {
		return nil, false
	}
	e := readEntry(b[number%perPage*entrySize:])
	if int(e.file) >= len(fileNames) || !r.store.current[e.file] {
		return nil, false
	}
	f, ok := r.store.at(e)
	if !ok {
		r.store.distrust()
	}
	return f, ok
}

// pageWriter writes the pages of an index.
type pageWriter struct {
	place *ScopeFolder
	name  string
	to    io.Writer
	// out holds pages that are not signed and written yet. count is the number of all pages.
	out   []byte
	count uint64
	err   error
}

// batch is the number of pages that are signed and written at once.
const batch = 1024

// page adds a page with the content that fill appends.
func (w *pageWriter) page(fill func([]byte) []byte) {
	start := len(w.out)
	w.out = fill(w.out)
	w.out = append(w.out, make([]byte, start+pageSize-len(w.out))...)
	if w.count++; w.count%batch == 0 {
		w.flush()
	}
}

// flush signs and writes the waiting pages. Every processor signs some pages.
func (w *pageWriter) flush() {
	first, pages := w.count-uint64(len(w.out)/pageSize), len(w.out)/pageSize
	each := max(1, (pages+maxReaders-1)/maxReaders)
	var wg sync.WaitGroup
	for from := 0; from < pages; from += each {
		wg.Go(func() {
			for i := from; i < min(from+each, pages); i++ {
				page := w.out[i*pageSize:][:pageSize]
				copy(page[pageRoom:], state.Sign(w.place.Key, pagePurpose, []byte(w.name), number(first+uint64(i)), page[:pageRoom]))
			}
		})
	}
	wg.Wait()
	_, err := w.to.Write(w.out)
	w.err = errors.Join(w.err, err)
	w.out = w.out[:0]
}

// add adds a section.
func (w *pageWriter) add(name string, content []byte) section {
	s := section{name: name, first: w.count, size: uint64(len(content))}
	for piece := range slices.Chunk(content, pageRoom) {
		w.page(func(b []byte) []byte { return append(b, piece...) })
	}
	return s
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
