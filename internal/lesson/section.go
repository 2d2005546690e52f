package lesson

import (
	"encoding/binary"
	"io"
	"slices"
)

// Section is a piece of the index that another package makes and reads, such as one
// that finds lessons by their tokens. It is made together with the index, and counts
// only with it.
type Section struct {
	// Name names it, with a version of its form.
	Name string
	// Make gives its content. At gives the lesson of a number, from 0 to count-1; a
	// number stands for the same lesson in [SectionReader.At].
	Make func(count int, at func(number int) Record) []byte
}

// SectionReader reads a section of the index in force.
type SectionReader struct {
	store *Store
	pages *pages
	of    section
	keys  section
}

// Section opens a section, false where there is no index, or none with it. What the
// files say that the index does not know is in [Store.Unindexed].
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

// Lacks reports whether there is an index, and a section is missing from it: it is to be
// made again.
func (s *Store) Lacks(name string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	if s.head == nil || s.pages == nil {
		return false
	}
	_, ok := s.head.section(name)
	return !ok
}

// Same reports whether two readers read the same section of the same index.
func (r *SectionReader) Same(other *SectionReader) bool {
	return r.store == other.store && r.pages == other.pages && r.of == other.of
}

// Size is the size of the section in bytes.
func (r *SectionReader) Size() int64 { return int64(r.of.size) }

// Count is how many lessons the index has.
func (r *SectionReader) Count() int { return int(r.keys.size / entrySize) }

// ReadAt reads from the section, and checks what it reads against its signature. What
// was changed by others is an error.
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

// At gives the lesson of a number. It is false where the file of the lesson changed
// since the index was made: [Store.Unindexed] has it then, if it still stands there.
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
	return r.store.at(e)
}

// pageWriter collects the pages of an index.
type pageWriter struct {
	place *Place
	name  string
	out   []byte
}

// page adds a page with what fill appends.
func (w *pageWriter) page(fill func([]byte) []byte) {
	start := len(w.out)
	w.out = fill(w.out)
	w.out = append(w.out, make([]byte, start+pageRoom-len(w.out))...)
	w.out = append(w.out, w.place.signPage(w.name, uint64(start/pageSize), w.out[start:])...)
}

// add adds a section.
func (w *pageWriter) add(name string, content []byte) section {
	s := section{name: name, first: uint64(len(w.out) / pageSize), size: uint64(len(content))}
	for piece := range slices.Chunk(content, pageRoom) {
		w.page(func(b []byte) []byte { return append(b, piece...) })
	}
	return s
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
