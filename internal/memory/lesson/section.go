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

// Section is a piece of the index that another package makes and reads, such as one
// that finds lessons by their tokens. It is made together with the index, and counts
// only with it.
type Section struct {
	// Name names it, with a version of its form.
	Name string
	// Note appends to b what the section must know of a lesson, when its line is read.
	// Several goroutines call it at once.
	Note func(b []byte, r *Record) []byte
	// Make gives its content. It gets what was noted of each lesson, in the order of the
	// files, and its number, which stands for the same lesson in [SectionReader.At].
	Make func(notes iter.Seq2[int, []byte]) []byte
}

// noted is what a section noted of the lessons of a piece of a file, in their order.
type noted struct {
	file uint8
	// offsets is where the lines stand in the file, ends where their notes end in text.
	offsets []uint64
	ends    []uint32
	text    []byte
}

// add adds what was noted of a line.
func (n *noted) add(s *Section, l *parsedLine, offset uint64) {
	n.text = s.Note(n.text, &l.Record)
	n.offsets, n.ends = append(n.offsets, offset), append(n.ends, uint32(len(n.text)))
}

// The place of a lesson in the files is packed into 64 bits: file, offset and number.
const (
	numberBits = 28
	offsetBits = 34
)

// inFiles are the places of entries, in the order of the files.
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

// notesOf gives the notes of the lessons at these places, with their numbers. Lines of
// which no entry was made, such as those that stand there twice, are left out.
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

// Size is the size of the section in bytes.
func (r *SectionReader) Size() int64 { return int64(r.of.size) }

// Distrust puts the index aside and reads the files themselves: [Store.Unindexed] has what
// they hold, and the index is to be made again. It is for who finds that there is no such
// section, or that it is none: what lessons deny and ask must not depend on it.
func (s *Store) Distrust() {
	s.looking(func() {
		if s.head != nil && s.pages != nil {
			s.distrust()
		}
	})
}

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
// since the index was made: from then on [Store.Unindexed] has it, if it still stands
// there.
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
	place *Place
	name  string
	to    io.Writer
	// out are pages that are not signed and written yet, count is how many there are
	// with those that are.
	out   []byte
	count uint64
	err   error
}

// batch is how many pages are signed and written at once.
const batch = 1024

// page adds a page with what fill appends.
func (w *pageWriter) page(fill func([]byte) []byte) {
	start := len(w.out)
	w.out = fill(w.out)
	w.out = append(w.out, make([]byte, start+pageSize-len(w.out))...)
	if w.count++; w.count%batch == 0 {
		w.flush()
	}
}

// flush signs and writes what waits. Every processor signs some pages.
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
