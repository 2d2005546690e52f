package lesson

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"cardea.dev/internal/base/state"
)

// The index of a folder is two files in the cache folder. The small one, the head, is replaced as a
// whole and names the other one, the pages, which never changes. The head records for which files,
// and which versions of them, the index was made. Pages are read one by one, and each is signed for
// its position: a lookup reads three or four of them.
const (
	headPurpose = "head of an index of lessons"
	pagePurpose = "page of an index of lessons"
	namePurpose = "name of an index of lessons"
	// indexVersion changes with the form of head, pages and entries, and with the definition of a
	// valid line.
	indexVersion = "2"
	// pageSize is the size of a page in bytes with its signature, pageRoom without.
	pageSize = 4096
	pageRoom = pageSize - state.SignatureSize
	// maxHead is the largest size of the head, in bytes.
	maxHead = 1 << 20
	// maxTail is the largest number of lessons in the head that were added after the pages were
	// written.
	maxTail = 256
)

// entry is the position of a lesson.
type entry struct {
	// hash is the hash of the subject.
	hash   uint64
	offset uint64
	length uint32
	line   uint32
	// id is the first half of the line's id.
	id   [16]byte
	file uint8
	// own is set where this user's Cardea wrote the line, or the person accepted it.
	own bool
}

// entrySize is the size of an entry in a page, in bytes.
const entrySize = 48

func (e *entry) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, e.hash)
	b = binary.BigEndian.AppendUint64(b, e.offset)
	b = binary.BigEndian.AppendUint32(b, e.length)
	b = binary.BigEndian.AppendUint32(b, e.line)
	b = append(b, e.id[:]...)
	own := byte(0)
	if e.own {
		own = 1
	}
	return append(b, e.file, own, 0, 0, 0, 0, 0, 0)
}

func readEntry(b []byte) (e entry) {
	e.hash, e.offset = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	e.length, e.line = binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])
	copy(e.id[:], b[24:40])
	e.file, e.own = b[40], b[41] == 1
	return e
}

// hashOf returns the hash under which the lessons of a subject are found. Two subjects may have the
// same hash: the subject of a found lesson is compared as well.
func hashOf(subject string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, subject)
	return h.Sum64()
}

// head is the small file of an index.
type head struct {
	// pages is the name of the file of pages.
	pages string
	// stamps are those of the files that the index covers, "" for other files: missing ones, and
	// small ones, which are read completely.
	stamps stamps
	// lines is the number of lines in each file.
	lines [len(fileNames)]uint32
	// broken are the lines that are not lessons, by file.
	broken [len(fileNames)][]brokenLine
	// sections are the pieces of the pages.
	sections []section
	// tail holds entries that are not in the pages.
	tail []entry
}

type brokenLine struct {
	line int
	text string
}

// maxBroken is the largest number of broken lines that are stored for a file.
const maxBroken = 20

// section is a piece of the pages: its first page and its size in bytes.
type section struct {
	name        string
	first, size uint64
}

// The sections of every index.
const (
	// keysSection holds the entries in the order of their hashes.
	keysSection = "keys"
	// firstsSection holds the first hash of each page of keys.
	firstsSection = "firsts"
)

// text returns the head in its file form, which [readHead] reads.
func (h *head) text() []byte {
	var b []byte
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	number := func(n uint64) { b = binary.AppendUvarint(b, n) }
	text(indexVersion)
	text(h.pages)
	for _, s := range h.stamps {
		text(s)
	}
	for _, n := range h.lines {
		number(uint64(n))
	}
	for _, list := range h.broken {
		number(uint64(len(list)))
		for _, l := range list {
			number(uint64(l.line))
			text(l.text)
		}
	}
	number(uint64(len(h.sections)))
	for _, s := range h.sections {
		text(s.name)
		number(s.first)
		number(s.size)
	}
	number(uint64(len(h.tail)))
	for i := range h.tail {
		b = h.tail[i].append(b)
	}
	return b
}

// reader reads what text wrote. Past its end it returns zero values.
type reader struct{ b []byte }

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.b = nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b = nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) text() string { return string(r.bytes(r.number())) }

// readHead returns the head of a signed text, or nil for another version.
func readHead(text []byte) *head {
	r := &reader{text}
	if r.text() != indexVersion {
		return nil
	}
	h := &head{pages: r.text()}
	for i := range h.stamps {
		h.stamps[i] = r.text()
	}
	for i := range h.lines {
		h.lines[i] = uint32(r.number())
	}
	for i := range h.broken {
		for range min(r.number(), maxBroken) {
			h.broken[i] = append(h.broken[i], brokenLine{int(r.number()), r.text()})
		}
	}
	for range min(r.number(), 64) {
		h.sections = append(h.sections, section{r.text(), r.number(), r.number()})
	}
	for range min(r.number(), maxTail) {
		if b := r.bytes(entrySize); b != nil {
			h.tail = append(h.tail, readEntry(b))
		}
	}
	return h
}

func (h *head) section(name string) (section, bool) {
	i := slices.IndexFunc(h.sections, func(s section) bool { return s.name == name })
	if i < 0 {
		return section{}, false
	}
	return h.sections[i], true
}

// cacheFolder returns the folder of indexes below the cache folder.
func (p *ScopeFolder) cacheFolder() string { return filepath.Join(p.Cache, "lessons") }

// name returns the file name for the index of a folder. It depends on the key, since a path may
// reveal a secret.
func (p *ScopeFolder) name() string {
	return hex.EncodeToString(state.Sign(p.Key, namePurpose, []byte(p.Dir))[:16])
}

func (p *ScopeFolder) headPath() string { return filepath.Join(p.cacheFolder(), p.name()) }

func (p *ScopeFolder) keepsIndex() bool { return p.Cache != "" && len(p.Key) == state.KeySize }

// readHead returns the head of the folder's index, or nil for a missing or forged one.
func (p *ScopeFolder) readHead() *head {
	if !p.keepsIndex() {
		return nil
	}
	text, err := state.ReadSigned(p.headPath(), p.Key, headPurpose, p.Dir, maxHead)
	if err != nil {
		return nil
	}
	return readHead(text)
}

func (p *ScopeFolder) writeHead(h *head) error {
	return state.WriteSigned(p.headPath(), p.Key, headPurpose, p.Dir, h.text())
}

// pages reads the pages of an index. A page that does not match its signature is an error.
type pages struct {
	file  *os.File
	key   []byte
	name  string
	known map[uint64][]byte
}

var errPage = errors.New("a page of the index was not written by your Cardea")

func (p *ScopeFolder) openPages(name string) (*pages, error) {
	if filepath.Base(name) != name {
		return nil, errPage
	}
	f, _, err := state.Open(filepath.Join(p.cacheFolder(), name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &pages{file: f, key: p.Key, name: name, known: map[uint64][]byte{}}, nil
}

// page returns one page without its signature, which is checked at the first read.
func (p *pages) page(n uint64) ([]byte, error) {
	if b, ok := p.known[n]; ok {
		return b, nil
	}
	b := make([]byte, pageSize)
	if _, err := p.file.ReadAt(b, int64(n)*pageSize); err != nil {
		return nil, err
	}
	if !state.Signed(p.key, b[pageRoom:], pagePurpose, []byte(p.name), binary.BigEndian.AppendUint64(nil, n), b[:pageRoom]) {
		return nil, errPage
	}
	p.known[n] = b[:pageRoom]
	return b[:pageRoom], nil
}

// read returns size bytes of a section from the offset at.
func (p *pages) read(s section, at, size uint64) ([]byte, error) {
	if at+size > s.size || at+size < at {
		return nil, io.ErrUnexpectedEOF
	}
	first := at / pageRoom
	b, err := p.page(s.first + first)
	if from := at % pageRoom; err == nil && from+size <= pageRoom {
		return b[from : from+size], nil
	}
	out := make([]byte, 0, size)
	for n := first; err == nil && uint64(len(out)) < size; n++ {
		if b, err = p.page(s.first + n); err == nil {
			from := uint64(0)
			if n == first {
				from = at % pageRoom
			}
			out = append(out, b[from:min(pageRoom, from+size-uint64(len(out)))]...)
		}
	}
	return out, err
}

// perPage is the number of entries in a page; the rest of the page is empty.
const perPage = pageRoom / entrySize

// find returns the entries with a hash.
func (p *pages) find(h *head, hash uint64) ([]entry, error) {
	keys, ok1 := h.section(keysSection)
	firsts, ok2 := h.section(firstsSection)
	if !ok1 || !ok2 {
		return nil, errPage
	}
	var failed error
	count := int(firsts.size / 8)
	at := sort.Search(count, func(i int) bool {
		b, err := p.read(firsts, uint64(i)*8, 8)
		if err != nil {
			failed = err
			return true
		}
		return binary.BigEndian.Uint64(b) >= hash
	})
	var out []entry
	for n := max(0, at-1); n < count && failed == nil; n++ {
		b, err := p.page(keys.first + uint64(n))
		if err != nil {
			return nil, err
		}
		for i := 0; i < perPage; i++ {
			if uint64(n*perPage+i)*entrySize >= keys.size {
				return out, nil
			}
			switch here := binary.BigEndian.Uint64(b[i*entrySize:]); {
			case here > hash:
				return out, nil
			case here == hash:
				out = append(out, readEntry(b[i*entrySize:]))
			}
		}
	}
	return out, failed
}
