package similar

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
)

// Group is the group of an entry. Each group is searched by itself.
type Group uint8

// groups is the number of groups.
const groups = 3

// Entry is a set in an index.
type Entry struct {
	Set   Set
	Group Group
	// Label is a number by which a search selects entries.
	Label uint16
}

// Match is an entry that a search found.
type Match struct {
	// Number is the entry's number in the input of [Build].
	Number int
	Score  float64
}

// The form of an index, all numbers with 32 bits, the lowest byte first:
//
//	head       magic, entries, tokens, postings
//	firsts     the hash of each 128th token
//	tokens     hash, how many sets have it, first posting, postings of each group
//	offsets    where each set begins, in numbers
//	sets       number of the entry, label and length, the hashes in order
//	postings   the sets with a token, by group: number of the set, its length, and how
//	           many of its tokens are rarer
//
// By prefix filtering (Chaudhuri, Ganti and Kaushik 2006, Bayardo, Ma and Srikant 2007), a token
// has a posting only for those sets of which it is one of the rarest tokens: of two similar sets,
// each has one of the other's rarest ones. Sets are sorted by group, and within a group in the
// order of the input.
const (
	magic      = 0x314d4953 // "SIM1"
	headSize   = 4 * 4
	firstEvery = 128
	tokenSize  = 4 * (3 + groups)
	maxEntries = 1 << 21
)

// ErrForm is the error for data that is not an index.
var ErrForm = errors.New("this is no index of similar texts")

// Index is an index of sets.
type Index struct {
	source source
	// entries, tokens and postings are their numbers.
	entries, tokens, postings int
	// postingsAt is the offset of the postings, firsts are the hashes of each 128th token.
	postingsAt int
	firsts     []byte
}

// source is the data of an index, of which each piece is read once.
type source struct {
	from   io.ReaderAt
	size   int
	pieces map[int][]byte
}

// pieceSize is the size of a piece, in bytes.
const pieceSize = 4096

// bytes returns n bytes from the offset at, or [ErrForm] outside of the data.
func (f source) bytes(at, n int) ([]byte, error) {
	if at < 0 || n < 0 || at > f.size || n > f.size-at {
		return nil, ErrForm
	}
	if at/pieceSize == (at+n-1)/pieceSize && n > 0 {
		b, err := f.piece(at / pieceSize)
		if err != nil {
			return nil, err
		}
		return b[at%pieceSize:][:n], nil
	}
	out := make([]byte, 0, n)
	for len(out) < n {
		b, err := f.piece((at + len(out)) / pieceSize)
		if err != nil {
			return nil, err
		}
		b = b[(at+len(out))%pieceSize:]
		out = append(out, b[:min(len(b), n-len(out))]...)
	}
	return out, nil
}

// piece reads a piece of the file.
func (f source) piece(i int) ([]byte, error) {
	if b := f.pieces[i]; b != nil {
		return b, nil
	}
	b := make([]byte, min(pieceSize, f.size-i*pieceSize))
	if _, err := f.from.ReadAt(b, int64(i)*pieceSize); err != nil {
		return nil, err
	}
	f.pieces[i] = b
	return b, nil
}

// OpenAt opens an index of size bytes, and reads what a search needs. It is not safe for concurrent
// use.
func OpenAt(r io.ReaderAt, size int64) (*Index, error) {
	if size < headSize || size > math.MaxInt32 {
		return nil, ErrForm
	}
	s := source{r, int(size), map[int][]byte{}}
	b, err := s.bytes(0, headSize)
	if err != nil {
		return nil, err
	}
	x := &Index{source: s, entries: int(number(b, 1)), tokens: int(number(b, 2)), postings: int(number(b, 3))}
	if number(b, 0) != magic || x.entries > maxEntries || x.tokens > math.MaxInt32/tokenSize || x.postings > math.MaxInt32/4 {
		return nil, ErrForm
	}
	// The last offset is the length of the sets.
	if b, err = s.bytes(x.offsetsAt()+4*x.entries, 4); err != nil {
		return nil, err
	}
	if x.postingsAt = x.setsAt() + 4*int(number(b, 0)); int64(x.postingsAt)+4*int64(x.postings) != size {
		return nil, ErrForm
	}
	x.firsts, err = s.bytes(headSize, 4*x.countFirsts())
	return x, err
}

func number(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

func (x *Index) countFirsts() int { return (x.tokens + firstEvery - 1) / firstEvery }
func (x *Index) tokensAt() int    { return headSize + 4*x.countFirsts() }
func (x *Index) offsetsAt() int   { return x.tokensAt() + tokenSize*x.tokens }
func (x *Index) setsAt() int      { return x.offsetsAt() + 4*(x.entries+1) }

// token holds the index's data about a token.
type token struct {
	hash, frequency, first uint32
	postings               [groups]uint32
}

// token returns the data of a token. A token that is in no set is the rarest.
func (x *Index) token(hash uint32) (token, error) {
	page := sort.Search(x.countFirsts(), func(i int) bool { return number(x.firsts, i) > hash }) - 1
	if page < 0 {
		return token{hash: hash}, nil
	}
	at := x.tokensAt() + page*firstEvery*tokenSize
	n := min(firstEvery, x.tokens-page*firstEvery)
	var failed error
	read := func(i int) []byte { // one by one, since the whole page would often be copied
		b, err := x.source.bytes(at+i*tokenSize, tokenSize)
		if err != nil {
			failed = err
			return make([]byte, tokenSize)
		}
		return b
	}
	i := sort.Search(n, func(i int) bool { return number(read(i), 0) >= hash })
	out := token{hash: hash}
	if i < n && failed == nil {
		if b := read(i); number(b, 0) == hash {
			out.frequency, out.first = number(b, 1), number(b, 2)
			for g := range groups {
				out.postings[g] = number(b, 3+g)
			}
		}
	}
	if failed != nil {
		return token{}, failed
	}
	return out, nil
}

// Query describes a search.
type Query struct {
	Set   Set
	Group Group
	// Threshold is the lowest score. Below the threshold of the index, not all matches are found.
	Threshold float64
	// Labels are the labels of the entries to search.
	Labels []uint16
	// Most is the largest number of matches. Looks is the number of sets after which the search
	// ends, 0 for all. If very many are similar, it finds some of them.
	Most, Looks int
}

// Find returns the most similar entries, best first.
func (x *Index) Find(q Query) ([]Match, error) {
	if x.entries == 0 || len(q.Set.tokens) == 0 || q.Most < 1 {
		return nil, nil
	}
	tokens := make([]token, 0, 16)
	for _, hash := range q.Set.tokens {
		t, err := x.token(hash)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
	}
	rarestFirst(tokens)
	threshold, n := max(q.Threshold, lowest), len(tokens)
	s := search{index: x, query: q, threshold: threshold,
		shortest: int(math.Ceil(threshold*float64(n) - epsilon)), longest: int(float64(n)/threshold + epsilon)}
	for i, t := range tokens[:min(n, prefix(n, threshold))] {
		if err := s.token(t, n-i-1); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

// rarestFirst sorts a few tokens.
func rarestFirst(tokens []token) {
	for i := 1; i < len(tokens); i++ {
		for k := i; k > 0 && (tokens[k].frequency < tokens[k-1].frequency || tokens[k].frequency == tokens[k-1].frequency && tokens[k].hash < tokens[k-1].hash); k-- {
			tokens[k], tokens[k-1] = tokens[k-1], tokens[k]
		}
	}
}

// search is one search.
type search struct {
	index             *Index
	query             Query
	threshold         float64
	shortest, longest int
	looks             int
	found             []Match
	// seen holds the sets that were looked at recently, each plus one.
	seen [256]uint32
}

// chunk is the number of postings that are read at once.
const chunk = 1024

// token looks at the sets of which t is one of the rarest tokens, and the rarest one shared with
// the query. others is the number of less rare tokens of the query. A set that shares a rarer token
// was found by that token.
func (s *search) token(t token, others int) error {
	first, n := int(t.first), int(t.postings[s.query.Group])
	for g := range s.query.Group {
		first += int(t.postings[g])
	}
	for n > 0 {
		k := min(n, chunk)
		b, err := s.index.source.bytes(s.index.postingsAt+4*first, 4*k)
		if err != nil {
			return err
		}
		for i := range k {
			if s.query.Looks > 0 && s.looks >= s.query.Looks {
				return nil
			}
			posting := number(b, i)
			set, length := posting>>11, int(posting>>3&0xff)
			if length < s.shortest || length > s.longest {
				continue
			}
			need := s.need(length)
			if rarer := int(posting & 7); 1+min(others, length-rarer-1) < need || s.seen[set%256] == set+1 {
				continue
			}
			s.seen[set%256] = set + 1
			s.looks++
			if err := s.set(int(set), length, need); err != nil {
				return err
			}
		}
		first, n = first+k, n-k
	}
	return nil
}

// need returns how many tokens a set of this length must share with the query.
func (s *search) need(length int) int {
	return int(math.Ceil(s.threshold/(1+s.threshold)*float64(len(s.query.Set.tokens)+length) - epsilon))
}

// set compares a set with the query.
func (s *search) set(i, length, need int) error {
	x := s.index
	if i >= x.entries {
		return ErrForm
	}
	b, err := x.source.bytes(x.offsetsAt()+4*i, 4)
	if err != nil {
		return err
	}
	if b, err = x.source.bytes(x.setsAt()+4*int(number(b, 0)), 4*(2+length)); err != nil {
		return err
	}
	if label := uint16(number(b, 1) >> 8); !slices.Contains(s.query.Labels, label) {
		return nil
	}
	query := s.query.Set.tokens
	common := inCommonWith(query, b[8:], need)
	if common < need || common == 0 {
		return nil
	}
	got := score(common, len(query), length)
	if got < s.threshold-epsilon {
		return nil
	}
	s.keep(Match{int(number(b, 0)), got})
	return nil
}

// inCommonWith is inCommon for tokens in the form of an index. It ends as soon as need cannot be
// reached.
func inCommonWith(a []uint32, b []byte, need int) (n int) {
	mayMiss, mayMissOther := len(a)-need, len(b)/4-need
	for i := 0; i < len(a) && len(b) >= 4; {
		switch x, y := a[i], binary.LittleEndian.Uint32(b); {
		case x == y:
			n++
			i++
			b = b[4:]
		case x < y:
			i++
			if mayMiss--; mayMiss < 0 {
				return 0
			}
		default:
			b = b[4:]
			if mayMissOther--; mayMissOther < 0 {
				return 0
			}
		}
	}
	return n
}

// keep adds a match if it is among the best.
func (s *search) keep(m Match) {
	better := func(a, b Match) bool { return a.Score > b.Score || a.Score == b.Score && a.Number < b.Number }
	if len(s.found) == s.query.Most && !better(m, s.found[len(s.found)-1]) {
		return
	}
	if slices.ContainsFunc(s.found, func(f Match) bool { return f.Number == m.Number }) {
		return
	}
	if len(s.found) == s.query.Most {
		s.found = s.found[:len(s.found)-1]
	}
	at := len(s.found)
	for at > 0 && better(m, s.found[at-1]) {
		at--
	}
	s.found = slices.Insert(s.found, at, m)
}
