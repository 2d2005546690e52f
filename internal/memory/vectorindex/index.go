package vectorindex

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"cardea.dev/internal/base/state"
)

// Group is a part of an index that is searched by itself, such as the lessons of one role and
// effect.
type Group struct {
	Name string
	// Labels are the labels of the vectors, in their order.
	Labels []string
	// Vectors holds the vectors, concatenated.
	Vectors []int8
}

// The file is a head, the sketches of all vectors and the ends of their labels, which are signed as
// one. Pages of vectors and pages of labels follow, each signed for its position in this file.
const (
	headPurpose = "head of an index of vectors"
	pagePurpose = "page of an index of vectors"
	// magic changes with the form of the file and with the planes.
	magic = "CARDVEC1"
	// pageSize is the size of a page with its signature.
	pageSize   = 4096
	pageRoom   = pageSize - state.SignatureSize
	sketchSize = sketchBits / 8
	endSize    = 4
	// fixedSize is the size of the beginning: the signature, magic, the name of this file's pages,
	// and the sizes of the head and of the signed data.
	nameSize  = 16
	fixedSize = state.SignatureSize + len(magic) + nameSize + 4 + 4
	// MaxDims, MaxVectors and MaxLabel (in bytes) are the limits of an index. maxHead limits the
	// description of the groups.
	MaxDims    = pageRoom
	MaxVectors = 4 << 20
	MaxLabel   = 16 << 10
	maxHead    = 1 << 20
	// maxExact is the largest number of vectors of a group that are compared number by number. If
	// more have near sketches, those with the nearest ones are compared.
	maxExact = 2048
)

// ErrOther is the error for a file that is not the requested index: of another form or source, or
// not written by this user's Cardea.
var ErrOther = errors.New("there is no index of this")

// group is a group in a file.
type group struct {
	name        string
	first, size int
}

// Write writes the file of an index. source names the indexed data, and Open requires the same
// value. stamp is the state of the data. Each vector of the groups has dims numbers.
func Write(path string, key []byte, source, stamp string, dims int, groups []Group) error {
	if len(key) != state.KeySize {
		return errors.New("write the index of vectors: there is no key")
	}
	total, err := count(dims, groups)
	if err != nil {
		return fmt.Errorf("write the index of vectors: %w", err)
	}
	var name [nameSize]byte
	_, _ = rand.Read(name[:])

	head := text(text(nil, source), stamp)
	head = binary.AppendUvarint(head, uint64(dims))
	head = binary.AppendUvarint(head, uint64(len(groups)))
	for _, g := range groups {
		head = binary.AppendUvarint(text(head, g.Name), uint64(len(g.Labels)))
	}
	if len(head) > maxHead {
		return errors.New("write the index of vectors: it has too many groups")
	}
	out := make([]byte, state.SignatureSize, fixedSize+len(head)+total*(sketchSize+endSize)+(total/(pageRoom/dims)+1)*pageSize)
	out = append(append(out, magic...), name[:]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(head)))
	out = binary.LittleEndian.AppendUint32(out, uint32(total))
	out = appendSketches(append(out, head...), dims, groups)
	end := 0
	for _, g := range groups {
		for _, l := range g.Labels {
			end += len(l)
			out = binary.LittleEndian.AppendUint32(out, uint32(end))
		}
	}
	copy(out, state.Sign(key, headPurpose, out[state.SignatureSize:]))

	p := pages{key: key, name: name[:], out: out}
	p.addAll(dims, groups)
	return state.Write(path, p.out)
}

// count returns the number of vectors in groups, or an error beyond a limit of an index.
func count(dims int, groups []Group) (total int, err error) {
	labels := int64(0)
	for _, g := range groups {
		if len(g.Vectors) != dims*len(g.Labels) {
			return 0, fmt.Errorf("%d numbers are not %d vectors", len(g.Vectors), len(g.Labels))
		}
		total += len(g.Labels)
		for _, l := range g.Labels {
			if labels += int64(len(l)); len(l) > MaxLabel || labels > math.MaxUint32 {
				return 0, errors.New("the labels are too long")
			}
		}
	}
	if dims < 1 || dims > MaxDims || total > MaxVectors {
		return 0, fmt.Errorf("%d vectors of %d numbers are too many", total, dims)
	}
	return total, nil
}

func appendSketches(out []byte, dims int, groups []Group) []byte {
	s := newSketcher(dims)
	for _, g := range groups {
		for i := range g.Labels {
			k := s.of(g.Vectors[i*dims:][:dims])
			out = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(out, k[0]), k[1])
		}
	}
	return out
}

// pages writes signed pages one after another.
type pages struct {
	key, name []byte
	out       []byte
	page      []byte
	room      int
	number    uint64
}

// addAll adds the vectors and the labels of groups.
func (p *pages) addAll(dims int, groups []Group) {
	p.begin(pageRoom / dims * dims)
	for _, g := range groups {
		for _, x := range g.Vectors {
			p.add(byte(x))
		}
	}
	p.begin(pageRoom)
	for _, g := range groups {
		for _, l := range g.Labels {
			for i := range len(l) {
				p.add(l[i])
			}
		}
	}
	p.begin(0)
}

// begin ends the current page, if any. The next ones hold room bytes.
func (p *pages) begin(room int) {
	if len(p.page) > 0 {
		full := append(p.page, make([]byte, pageRoom-len(p.page))...)
		p.out = append(append(p.out, full...), signPage(p.key, p.name, p.number, full)...)
		p.number++
	}
	p.page, p.room = p.page[:0], room
}

func (p *pages) add(c byte) {
	if p.page = append(p.page, c); len(p.page) == p.room {
		p.begin(p.room)
	}
}

func text(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }

func signPage(key, name []byte, number uint64, page []byte) []byte {
	return state.Sign(key, pagePurpose, name, binary.LittleEndian.AppendUint64(nil, number), page)
}

// Index is an open file. It is safe for concurrent use.
type Index struct {
	key      []byte
	name     []byte
	stamp    string
	dims     int
	groups   []group
	sketches []byte
	ends     []byte
	perPage  int
	// pagesAt is the offset of the pages in the file.
	pagesAt int64

	mu    sync.Mutex
	file  *os.File
	pages map[int]page
	// sketcher holds buffers that only one search uses at a time.
	sketcher *sketcher
	near     []int32
	far      []uint8
}

// Open opens an index of a source with vectors of dims numbers. The error is [ErrOther], or a
// failure to read the file.
func Open(path string, key []byte, source string, dims int) (*Index, error) {
	f, info, err := state.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	x, err := open(f, info.Size(), key, source, dims)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return x, nil
}

// open reads and verifies the head of an index. Errors are those of [Open].
func open(f *os.File, size int64, key []byte, source string, dims int) (*Index, error) {
	var fixed [fixedSize]byte
	if _, err := io.ReadFull(f, fixed[:]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOther, err)
	}
	rest := fixed[state.SignatureSize:]
	if string(rest[:len(magic)]) != magic {
		return nil, ErrOther
	}
	name := bytes.Clone(rest[len(magic):][:nameSize])
	headSize := int(binary.LittleEndian.Uint32(rest[len(magic)+nameSize:]))
	total := int(binary.LittleEndian.Uint32(rest[len(magic)+nameSize+4:]))
	signed := int64(headSize) + int64(total)*(sketchSize+endSize)
	// The sizes are not trusted before the signature is checked.
	if headSize > maxHead || total > MaxVectors || int64(fixedSize)+signed > size {
		return nil, ErrOther
	}
	all := make([]byte, len(rest)+int(signed))
	copy(all, rest)
	if _, err := io.ReadFull(f, all[len(rest):]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOther, err)
	}
	if !state.Signed(key, fixed[:state.SignatureSize], headPurpose, all) {
		return nil, ErrOther
	}
	x := &Index{key: key, name: name, dims: dims, file: f, pages: map[int]page{}, sketcher: newSketcher(dims), pagesAt: int64(fixedSize) + signed}
	r := reader{all[len(rest):][:headSize]}
	if r.text() != source {
		return nil, ErrOther
	}
	x.stamp = r.text()
	if int(r.number()) != dims || dims < 1 || dims > MaxDims {
		return nil, ErrOther
	}
	x.perPage = pageRoom / dims
	at := 0
	for range r.number() {
		g := group{name: r.text(), first: at}
		g.size = int(r.number())
		if at += g.size; at > total || g.size < 0 {
			return nil, ErrOther
		}
		x.groups = append(x.groups, g)
	}
	x.sketches = all[len(rest)+headSize:][:total*sketchSize]
	x.ends = all[len(rest)+headSize+total*sketchSize:]
	return x, nil
}

// reader reads what [text] and AppendUvarint wrote. Past its end it returns zero values.
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

func (r *reader) text() string {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.b = nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// Close closes the file.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.file.Close()
}

// Current reports whether the index was made of its source in this state.
func (x *Index) Current(stamp string) bool { return x.stamp == stamp }

// Check reads the whole index. An error means that the file was changed by another program.
func (x *Index) Check() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.vectorPages()
	if total := x.Count(); total > 0 {
		n += (int(binary.LittleEndian.Uint32(x.ends[endSize*(total-1):])) + pageRoom - 1) / pageRoom
	}
	for i := range n {
		if _, err := x.read(i); err != nil {
			return err
		}
	}
	return nil
}

// vectorPages returns the number of pages with vectors. Pages of labels follow.
func (x *Index) vectorPages() int { return (x.Count() + x.perPage - 1) / x.perPage }

// Count returns the number of vectors.
func (x *Index) Count() int { return len(x.ends) / endSize }

// Search returns the vectors of a group with at least the given similarity to query: the most
// similar first, at most wanted. An unknown group has none. An error means that the file was
// changed by another program.
func (x *Index) Search(name string, query []int8, least float32, wanted int) ([]Hit, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(query) != x.dims {
		return nil, fmt.Errorf("search the index of vectors: %d numbers, not %d", len(query), x.dims)
	}
	b := best{wanted: wanted, least: least}
	own := dot(query, query)
	for _, g := range x.groups {
		if g.name != name {
			continue
		}
		for _, i := range x.candidates(g, x.sketcher.of(query), farthest(least)) {
			v, square, err := x.vector(int(i))
			if err != nil {
				return nil, err
			}
			b.add(i, cosine(dot(query, v), own, square))
		}
	}
	out := make([]Hit, 0, len(b.near))
	for _, n := range b.near {
		label, err := x.label(int(n.number))
		if err != nil {
			return nil, err
		}
		out = append(out, Hit{label, n.similarity})
	}
	return out, nil
}

// label reads the label of a vector.
func (x *Index) label(i int) (string, error) {
	from, to := uint32(0), binary.LittleEndian.Uint32(x.ends[endSize*i:])
	if i > 0 {
		from = binary.LittleEndian.Uint32(x.ends[endSize*(i-1):])
	}
	if to < from || to-from > MaxLabel {
		return "", fmt.Errorf("read the index of vectors: %w", ErrOther)
	}
	first := x.vectorPages()
	out := make([]byte, 0, to-from)
	for at := from; at < to; {
		b, err := x.read(first + int(at/pageRoom))
		if err != nil {
			return "", err
		}
		b = b[at%pageRoom:]
		b = b[:min(len(b), int(to-at))]
		out, at = append(out, b...), at+uint32(len(b))
	}
	return string(out), nil
}

// read reads a page and checks it.
func (x *Index) read(n int) ([]byte, error) {
	b := make([]byte, pageSize)
	if _, err := x.file.ReadAt(b, x.pagesAt+int64(n)*pageSize); err != nil {
		return nil, fmt.Errorf("read the index of vectors: %w", err)
	}
	if !state.Signed(x.key, b[pageRoom:], pagePurpose, x.name, binary.LittleEndian.AppendUint64(nil, uint64(n)), b[:pageRoom]) {
		return nil, fmt.Errorf("read the index of vectors: %w", state.ErrForged)
	}
	return b[:pageRoom], nil
}

// candidates returns the vectors of a group whose sketches are near enough, or the nearest of them
// if there are too many.
func (x *Index) candidates(g group, query sketch, bound int) []int32 {
	list := x.sketches[sketchSize*g.first:][:sketchSize*g.size]
	near, far := x.near[:0], x.far[:0]
	for i := 0; len(list) >= sketchSize; i++ {
		d := query.distance(sketch{binary.LittleEndian.Uint64(list), binary.LittleEndian.Uint64(list[8:])})
		if list = list[sketchSize:]; d <= bound {
			near, far = append(near, int32(g.first+i)), append(far, uint8(d))
		}
	}
	x.near, x.far = near, far
	if len(near) <= maxExact {
		return near
	}
	var count [sketchBits + 1]int
	for _, d := range far {
		count[d]++
	}
	// room is the number of vectors at exactly the distance of the bound that fit.
	room := maxExact
	for bound = 0; count[bound] < room; bound++ {
		room -= count[bound]
	}
	out := near[:0]
	for i, d := range far {
		if int(d) < bound || int(d) == bound && room > 0 {
			if int(d) == bound {
				room--
			}
			out = append(out, near[i])
		}
	}
	return out
}

// page is a page that was read, with the product of each vector with itself.
type page struct {
	vectors []int8
	squares []int32
}

// vector returns a vector, and its product with itself. It reads and checks the page of the vector.
func (x *Index) vector(i int) ([]int8, int32, error) {
	n, at := i/x.perPage, i%x.perPage
	p, ok := x.pages[n]
	if !ok {
		b, err := x.read(n)
		if err != nil {
			return nil, 0, err
		}
		p = page{make([]int8, x.perPage*x.dims), make([]int32, x.perPage)}
		for i := range p.vectors {
			p.vectors[i] = int8(b[i])
		}
		for i := range p.squares {
			v := p.vectors[i*x.dims:][:x.dims]
			p.squares[i] = dot(v, v)
		}
		x.pages[n] = p
	}
	return p.vectors[at*x.dims:][:x.dims], p.squares[at], nil
}
