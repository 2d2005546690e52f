package similar

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
)

// Append appends an entry to b in the form that [Build] reads. It appends nothing for an empty set,
// since nothing is similar to it.
func (e Entry) Append(b []byte) []byte {
	if len(e.Set.tokens) == 0 || e.Group >= groups {
		return b
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Label)<<16|uint32(e.Group)<<8|uint32(len(e.Set.tokens)))
	for _, t := range e.Set.tokens {
		b = binary.LittleEndian.AppendUint32(b, t)
	}
	return b
}

// written is an entry in the form of [Entry.Append].
type written []byte

func (w written) group() int    { return int(w[1]) }
func (w written) label() uint32 { return number(w, 0) >> 16 }
func (w written) tokens() []byte {
	return w[4:]
}
func (w written) len() int { return len(w)/4 - 1 }

// Build returns the index of entries, for searches with this threshold or a higher one. A higher
// threshold makes it smaller and faster. It reads the entries twice, each with its number, as
// [Entry.Append] wrote them, and leaves out empty ones. A search reads less of a file in which
// similar entries follow one another.
//
// A million entries take half a second and 200 MB: there is no map, no sorting except of the
// different tokens, and no allocation for each entry.
func Build(threshold float64, entries iter.Seq2[int, []byte]) []byte {
	b := builder{threshold: max(threshold, lowest), entries: entries, tokens: newTable()}
	b.count()
	b.layOut()
	b.putSets()
	b.putTokens()
	b.putPostings()
	return b.out
}

// builder builds one index.
type builder struct {
	threshold float64
	entries   iter.Seq2[int, []byte]
	// tokens has the number of sets with each token, and then its row plus one: its position among
	// all tokens in ascending order. hashes and frequency are those of the rows.
	tokens            *table
	hashes, frequency []uint32
	// sets, words and rare are the numbers of sets, of numbers in them, and of postings, for each
	// group.
	sets, words, rare [groups]int
	// of holds the rows of the rarest tokens of the sets, set by set, the rarest first. postings is
	// the number of postings of each row in each group.
	of       []uint32
	postings []uint32
	// The offsets of the pieces.
	tokensAt, offsetsAt, setsAt, postingsAt int
	out                                     []byte
}

// each visits the entries that are in the index.
func (b *builder) each(visit func(n int, w written)) {
	left := maxEntries
	for n, text := range b.entries {
		if len(text) == 0 {
			continue
		}
		if left--; left < 0 {
			return
		}
		visit(n, text)
	}
}

// count counts sets and tokens.
func (b *builder) count() {
	b.each(func(_ int, w written) {
		g := w.group()
		b.sets[g]++
		b.words[g] += 2 + w.len()
		b.rare[g] += prefix(w.len(), b.threshold)
		for t := w.tokens(); len(t) > 0; t = t[4:] {
			*b.tokens.at(number(t, 0))++
		}
	})
	b.hashes = b.tokens.keys()
	slices.Sort(b.hashes)
	b.frequency = make([]uint32, len(b.hashes))
	for row, hash := range b.hashes {
		at := b.tokens.at(hash)
		b.frequency[row], *at = *at, uint32(row+1)
	}
}

// total returns the sum over the groups.
func total(of [groups]int) (sum int) {
	for _, n := range of {
		sum += n
	}
	return sum
}

// layOut computes the offsets of the pieces, and writes the head.
func (b *builder) layOut() {
	firsts := (len(b.hashes) + firstEvery - 1) / firstEvery
	b.tokensAt = headSize + 4*firsts
	b.offsetsAt = b.tokensAt + tokenSize*len(b.hashes)
	b.setsAt = b.offsetsAt + 4*(total(b.sets)+1)
	b.postingsAt = b.setsAt + 4*total(b.words)
	b.out = make([]byte, b.postingsAt+4*total(b.rare))
	for i, n := range [...]int{magic, total(b.sets), len(b.hashes), total(b.rare)} {
		b.put(4*i, uint32(n))
	}
	for i := range firsts {
		b.put(headSize+4*i, b.hashes[i*firstEvery])
	}
	b.put(b.setsAt-4, uint32(total(b.words)))
	b.of, b.postings = make([]uint32, total(b.rare)), make([]uint32, groups*len(b.hashes))
}

func (b *builder) put(at int, n uint32) { binary.LittleEndian.PutUint32(b.out[at:], n) }

// putSets writes the sets, and finds the rarest tokens of each.
func (b *builder) putSets() {
	var set, word, rare [groups]int // the position of the next one of a group
	for g := 1; g < groups; g++ {
		set[g], word[g], rare[g] = set[g-1]+b.sets[g-1], word[g-1]+b.words[g-1], rare[g-1]+b.rare[g-1]
	}
	var room [MaxTokens]uint64
	b.each(func(n int, w written) {
		g := w.group()
		at := b.setsAt + 4*word[g]
		b.put(b.offsetsAt+4*set[g], uint32(word[g]))
		b.put(at, uint32(n))
		b.put(at+4, w.label()<<8|uint32(w.len()))
		copy(b.out[at+8:], w.tokens())
		k := prefix(w.len(), b.threshold)
		for _, key := range b.rarest(w, k, room[:0]) {
			row := uint32(key)
			b.of[rare[g]] = row
			b.postings[groups*int(row)+g]++
			rare[g]++
		}
		set[g], word[g] = set[g]+1, word[g]+2+w.len()
	})
}

// rarest returns the k rarest tokens of a set, the rarest first: frequency and row.
func (b *builder) rarest(w written, k int, room []uint64) []uint64 {
	for t := w.tokens(); len(t) > 0; t = t[4:] {
		row := *b.tokens.at(number(t, 0)) - 1
		key := uint64(b.frequency[row])<<32 | uint64(row)
		if len(room) == k {
			if key > room[k-1] {
				continue
			}
			room = room[:k-1]
		}
		i := len(room)
		room = append(room, key)
		for ; i > 0 && room[i-1] > key; i-- {
			room[i] = room[i-1]
		}
		room[i] = key
	}
	return room
}

// putTokens writes the data of each token, and turns the numbers of postings into the positions of
// their first ones.
func (b *builder) putTokens() {
	first := uint32(0)
	for row, hash := range b.hashes {
		at := b.tokensAt + tokenSize*row
		b.put(at, hash)
		b.put(at+4, b.frequency[row])
		b.put(at+8, first)
		for g := range groups {
			n := b.postings[groups*row+g]
			b.put(at+12+4*g, n)
			b.postings[groups*row+g] = first
			first += n
		}
	}
}

// putPostings writes the sets with each token.
func (b *builder) putPostings() {
	set, next := 0, 0
	for g := range groups {
		for range b.sets[g] {
			at := b.setsAt + 4*int(number(b.out[b.offsetsAt:], set))
			n := int(b.out[at+4])
			for position := range prefix(n, b.threshold) {
				place := &b.postings[groups*int(b.of[next])+g]
				b.put(b.postingsAt+4*int(*place), uint32(set)<<11|uint32(n)<<3|uint32(min(position, 7)))
				*place++
				next++
			}
			set++
		}
	}
}

// table maps each of many tokens to a number above 0. A token is in the slot of its hash, or in the
// next free slot after it.
type table struct {
	buckets []bucket
	used    int
	shift   int
}

// bucket is a token and its number, which is 0 in a free slot.
type bucket struct{ hash, number uint32 }

func newTable() *table { return &table{buckets: make([]bucket, 1<<12), shift: 32 - 12} }

// at returns the number of a token, 0 for a new one, which the caller sets at once.
func (t *table) at(hash uint32) *uint32 {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio: Knuth, The Art of Computer Programming 3, 6.4
	mask := len(t.buckets) - 1
	for i := int(hash * spread >> t.shift); ; i = (i + 1) & mask {
		s := &t.buckets[i&mask]
		switch {
		case s.number != 0 && s.hash == hash:
			return &s.number
		case s.number != 0:
		case 2*t.used >= len(t.buckets):
			t.grow()
			return t.at(hash)
		default:
			t.used++
			s.hash = hash
			return &s.number
		}
	}
}

func (t *table) grow() {
	old := t.buckets
	t.buckets, t.used, t.shift = make([]bucket, 2*len(old)), 0, t.shift-1
	for _, s := range old {
		if s.number != 0 {
			*t.at(s.hash) = s.number
		}
	}
}

// keys returns the tokens.
func (t *table) keys() []uint32 {
	out := make([]uint32, 0, t.used)
	for _, s := range t.buckets {
		if s.number != 0 {
			out = append(out, s.hash)
		}
	}
	return out
}

// prefix returns how many of the rarest tokens of a set of n a search must look at, to find all
// sets with at least a score.
func prefix(n int, threshold float64) int {
	return n - int(math.Ceil(threshold*float64(n)-epsilon)) + 1
}

// lowest is the lowest meaningful score.
const lowest = 0.05

// epsilon keeps products of decimal numbers such as 0.7 × 10 from being rounded up.
const epsilon = 1e-9
