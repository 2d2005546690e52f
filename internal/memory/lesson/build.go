package lesson

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"cardea.dev/internal/base/state"
)

// Built describes the result of a build.
type Built struct {
	// Lessons is the number of lessons in the files, Bytes the size of the index.
	Lessons, Bytes int
	// Broken is the number of lines that are not lessons.
	Broken int
}

// maxEntries is the largest number of names read from the cache folder.
const maxEntries = 4096

// build sorts the files and rebuilds the index. The caller holds the folder's lock.
func (w *Writer) build() (Built, error) {
	p := &w.place
	if !p.keepsIndex() {
		return Built{}, errors.New("there is no cache folder, or no key, for the index of lessons; set HOME or XDG_CACHE_HOME")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // a million lessons fit into memory, but not twice
	for range 3 {
		h, built, err := w.buildOnce()
		if err != nil {
			return built, err
		}
		now := p.stampsNow()
		same := now[ownStamp] == h.stamps[ownStamp]
		for i := range fileNames {
			same = same && (h.stamps[i] == "" || h.stamps[i] == now[i])
		}
		if same {
			return built, p.publish(h)
		}
	}
	return Built{}, errors.New("the files of lessons change all the time; run \"cardea lessons build\" again")
}

// buildOnce reads the files and writes the pages.
func (w *Writer) buildOnce() (*head, Built, error) {
	p := &w.place
	h := &head{}
	var built Built
	h.stamps[ownStamp] = p.stampsNow()[ownStamp]
	own := p.ownLines()
	all := gathered{sections: w.sections, notes: make([][]noted, len(w.sections))}
	for i := range fileNames {
		c, err := w.collect(i, own, &all)
		if err != nil {
			continue // a lookup reports it
		}
		h.stamps[i], h.lines[i], h.broken[i] = c.stamp, uint32(c.lines), c.broken
		built.Broken, built.Lessons = built.Broken+len(c.broken), built.Lessons+c.small
	}
	built.Lessons += len(all.entries)
	if len(all.entries) == 0 {
		return h, built, nil
	}
	slices.SortFunc(all.entries, compareEntries)
	if err := os.MkdirAll(p.cacheFolder(), 0o700); err != nil {
		return h, built, err
	}
	h.pages = p.newPages()
	err := state.Replace(filepath.Join(p.cacheFolder(), h.pages), nil, func(f *os.File) error {
		return p.writePages(f, h, &all, &built)
	})
	return h, built, err
}

// gathered holds the data for an index, as read from the files.
type gathered struct {
	sections []Section
	entries  []entry
	// notes are the notes of each section, in the order of the files.
	notes [][]noted
}

// collected describes a file that was read. stamp is "" for a file that needs no index; small is
// then the number of its lessons.
type collected struct {
	stamp        string
	lines, small int
	broken       []brokenLine
}

// collect sorts a file if necessary, and adds its entries if the file needs an index.
func (w *Writer) collect(i int, own func(ID) bool, all *gathered) (c collected, err error) {
	p := &w.place
	for try := 0; ; try++ {
		c = collected{stamp: state.Stamp(p.file(i))}
		f, info, err := p.open(i)
		if err != nil {
			return c, err
		}
		first := len(all.entries)
		inOrder, err := p.entries(i, f, info.Size(), own, all, &c)
		if err = errors.Join(err, f.Close()); err != nil {
			return c, err
		}
		if !inOrder && len(c.broken) == 0 && try == 0 {
			all.forget(i, first)
			if info.Size() > chunkSize {
				runtime.GC() // the data read is garbage, and the next step needs as much memory
			}
			if err := w.sortFile(i, c.stamp); err != nil {
				return c, err
			}
			continue
		}
		if info.Size() <= smallFile {
			c.stamp, c.small = "", len(all.entries)-first
			all.forget(i, first)
		}
		return c, nil
	}
}

// forget drops the data of a file, whose entries are the last ones.
func (g *gathered) forget(file, first int) {
	if g.entries = g.entries[:first]; first == 0 {
		g.entries = nil
	}
	for s := range g.notes {
		g.notes[s] = slices.DeleteFunc(g.notes[s], func(n noted) bool { return int(n.file) == file })
	}
}

// sortFile sorts a file without broken lines, unless the file no longer has the given stamp. It
// leaves a file that others write in their order.
func (w *Writer) sortFile(i int, stamp string) error {
	text, err := w.place.read(i)
	if err != nil || state.Stamp(w.place.file(i)) != stamp {
		return err
	}
	err = w.replaceBy(i, func(f *os.File) error {
		to := bufio.NewWriterSize(f, 1<<20)
		for line := range inOrder(text) {
			_, _ = to.WriteString(line) // Flush reports the error
			_ = to.WriteByte('\n')
		}
		return to.Flush()
	})
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// inOrder returns the sorted lines of a text without duplicates. Every processor sorts some.
func inOrder(text string) iter.Seq[string] {
	lines := make([]string, 0, len(text)/lineLength)
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.Trim(line, " \t") != "" {
			lines = append(lines, line)
		}
	}
	parts := slices.Collect(slices.Chunk(lines, max(1, (len(lines)+maxReaders-1)/maxReaders)))
	var wg sync.WaitGroup
	for _, part := range parts {
		wg.Go(func() { slices.Sort(part) })
	}
	wg.Wait()
	return func(yield func(string) bool) {
		last := ""
		for {
			first := -1
			for i, part := range parts {
				if len(part) > 0 && (first < 0 || part[0] < parts[first][0]) {
					first = i
				}
			}
			if first < 0 {
				return
			}
			line := parts[first][0]
			if parts[first] = parts[first][1:]; line != last && !yield(line) {
				return
			}
			last = line
		}
	}
}

// writePages writes the pages of sorted entries, and adds them to the head. The sections are made
// while the entries are written.
func (p *ScopeFolder) writePages(to io.Writer, h *head, all *gathered, built *Built) error {
	contents := make(chan []byte, len(all.sections))
	go func(places []uint64) {
		for i, s := range all.sections {
			contents <- s.Make(notesOf(places, all.notes[i]))
		}
	}(inFiles(all.entries))
	w := &pageWriter{place: p, name: h.pages, to: to, out: make([]byte, 0, min(batch, len(all.entries)/perPage+3)*pageSize)}
	h.sections = []section{{name: keysSection, size: uint64(len(all.entries)) * entrySize}}
	firsts := make([]byte, 0, len(all.entries)/perPage*8+8)
	for page := range slices.Chunk(all.entries, perPage) {
		firsts = append(firsts, number(page[0].hash)...)
		w.page(func(b []byte) []byte {
			for i := range page {
				b = page[i].append(b)
			}
			return b
		})
	}
	h.sections = append(h.sections, w.add(firstsSection, firsts))
	for _, s := range all.sections {
		h.sections = append(h.sections, w.add(s.Name, <-contents))
	}
	w.flush()
	built.Bytes = int(w.count) * pageSize
	return w.err
}

// entries adds the entries of a file: each lesson once, without removed ones. inOrder is set where
// the lines are sorted and unique.
func (p *ScopeFolder) entries(i int, f *os.File, size int64, own func(ID) bool, g *gathered, c *collected) (inOrder bool, err error) {
	all, first := &g.entries, len(g.entries)
	*all = slices.Grow(*all, int(size/lineLength))
	removed := map[[16]byte]bool{}
	inOrder = true
	before := ""
	for read, err := range p.readChunks(i, f, own, g.sections) {
		if err != nil {
			return false, err
		}
		if read.text != "" {
			line, _, _ := strings.Cut(read.text, "\n")
			inOrder = inOrder && read.inOrder && line > before
			before = read.lastLine
		}
		for _, id := range read.removed {
			removed[id] = true
		}
		for _, e := range read.entries {
			e.line += uint32(c.lines)
			*all = append(*all, e)
		}
		for s, n := range read.noted {
			g.notes[s] = append(g.notes[s], n)
		}
		for _, b := range read.broken {
			if b.line += c.lines; len(c.broken) < maxBroken {
				c.broken = append(c.broken, b)
			}
		}
		c.lines += read.lines
		if info, err := f.Stat(); err == nil && read.last && read.offset == 0 && len(c.broken) == 0 && i != allowFile && p.Note != nil {
			p.Note(p.file(i), read.text, info.ModTime())
		}
	}
	slices.SortFunc((*all)[first:], compareEntries)
	stored := slices.CompactFunc((*all)[first:], func(a, b entry) bool { return a.id == b.id })
	stored = slices.DeleteFunc(stored, func(e entry) bool { return removed[e.id] })
	*all = (*all)[:first+len(stored)]
	return inOrder, nil
}

// readChunk is the result of reading a chunk. Line numbers count from its beginning.
type readChunk struct {
	chunk
	entries []entry
	// removed are the ids of the lines that other lines remove.
	removed [][16]byte
	// noted are the notes of the sections.
	noted  []noted
	broken []brokenLine
	lines  int
	// inOrder is set where the lines are sorted and unique; lastLine is the last one.
	inOrder  bool
	lastLine string
}

// maxReaders is the number of chunks that are read at once: each needs memory.
const maxReaders = 4

// readChunks yields the chunks of a file in their order. Every processor reads one.
func (p *ScopeFolder) readChunks(i int, f *os.File, own func(ID) bool, sections []Section) iter.Seq2[readChunk, error] {
	return func(yield func(readChunk, error) bool) {
		var waiting []chan readChunk
		for text, err := range chunks(f) {
			if err != nil {
				yield(readChunk{}, err)
				return
			}
			if len(waiting) == min(runtime.GOMAXPROCS(0), maxReaders) {
				if !yield(<-waiting[0], nil) {
					return
				}
				waiting = waiting[1:]
			}
			done := make(chan readChunk, 1)
			go func() { done <- readLinesOf(i, text, own, p.Shared, sections) }()
			waiting = append(waiting, done)
		}
		for _, done := range waiting {
			if !yield(<-done, nil) {
				return
			}
		}
	}
}

// readLinesOf reads the lines of a chunk of the file of an effect.
func readLinesOf(i int, text chunk, own func(ID) bool, shared bool, sections []Section) readChunk {
	r := readChunk{chunk: text, entries: make([]entry, 0, len(text.text)/lineLength), lines: lineCount(text.text)}
	r.inOrder = areInOrder(text.text, &r.lastLine)
	r.noted = make([]noted, len(sections))
	for s := range r.noted {
		r.noted[s].file = uint8(i)
	}
	for l := range lines(text.text, effects[i], &r.broken) {
		if l.Removes != "" {
			var id [16]byte
			_, _ = hex.Decode(id[:], []byte(l.Removes[:2*len(id)])) // ParseLine has read it
			r.removed = append(r.removed, id)
			continue
		}
		e := entry{hash: hashOf(l.Subject), offset: uint64(text.offset + l.offset), length: uint32(l.length), line: uint32(l.number), file: uint8(i),
			own: shared && own(l.id)}
		copy(e.id[:], l.id[:])
		r.entries = append(r.entries, e)
		for s := range sections {
			r.noted[s].add(&sections[s], &l, e.offset)
		}
	}
	return r
}

// lineLength is the typical length of a line, in bytes.
const lineLength = 220

// chunkSize is the number of bytes of a file that are read at once.
const chunkSize = 2 << 20

// chunk is a piece of a file: whole lines. last is set for the last one.
type chunk struct {
	text   string
	offset int
	last   bool
}

// chunks reads a file piece by piece.
func chunks(f *os.File) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		buffer, rest, offset := make([]byte, chunkSize), 0, 0
		for {
			n, err := io.ReadFull(f, buffer[rest:])
			end := rest + n
			last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			if err != nil && !last {
				yield(chunk{}, err)
				return
			}
			whole := bytes.LastIndexByte(buffer[:end], '\n') + 1
			if last {
				whole = end
			}
			if whole == 0 && !last {
				if len(buffer) > maxFile {
					yield(chunk{}, state.ErrTooLarge)
					return
				}
				buffer, rest = append(buffer, make([]byte, len(buffer))...), end
				continue
			}
			if !yield(chunk{string(buffer[:whole]), offset, last}, nil) || last {
				return
			}
			offset += whole
			rest = copy(buffer, buffer[whole:end])
		}
	}
}

// areInOrder reports whether the lines of a text are sorted and unique. before is the line before
// the text, and the last line of the text afterwards.
func areInOrder(text string, before *string) bool {
	for len(text) > 0 {
		line, rest, ended := strings.Cut(text, "\n")
		if !ended || line <= *before || strings.HasSuffix(line, "\r") {
			return false
		}
		*before, text = line, rest
	}
	return true
}

// compareEntries orders entries by hash, and those of the same hash by their position.
func compareEntries(a, b entry) int {
	if c := cmp.Compare(a.hash, b.hash); c != 0 {
		return c // nearly always
	}
	return cmp.Or(cmp.Compare(a.file, b.file), bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.offset, b.offset))
}

// lineCount returns the number of lines in a text.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// newPages returns the name of a new file of pages.
func (p *ScopeFolder) newPages() string {
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // ends the process rather than fail
	return p.name() + "-" + hex.EncodeToString(nonce[:])
}

// publish activates a head and removes the pages of older ones.
func (p *ScopeFolder) publish(h *head) error {
	if err := p.writeHead(h); err != nil {
		return fmt.Errorf("write the index of lessons: %w", err)
	}
	names, err := state.Names(p.cacheFolder(), maxEntries)
	for _, name := range names {
		if strings.HasPrefix(name, p.name()+"-") && name != h.pages {
			_ = os.Remove(filepath.Join(p.cacheFolder(), name)) // the next build tries again
		}
		state.RemoveAbandoned(filepath.Join(p.cacheFolder(), name))
	}
	return err
}
