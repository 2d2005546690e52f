package embedding

import (
	"crypto/sha256"
	_ "embed" // of the table
	"errors"
	"fmt"
	"math"
	"sync"
)

// Dims is the number of numbers in a vector.
const Dims = 64

// Table has a row of numbers for each piece of the vocabulary. It is read in place: opening it
// costs nothing, and only the rows that a command needs are loaded into memory.
//
// The format, numbers in little-endian order: [magic]; the first 8 bytes of the SHA-256 digest of
// all that follows; the number of rows, Dims, the length of the longest piece in bytes and the
// number of slots, 4 bytes each; the slots of a hash table, 2 bytes each, a row's number plus one
// or 0; the offset of each piece in the text, 4 bytes each, and the end of the last one; a factor
// for each row, as a float32; the rows, Dims bytes each; the text of all pieces. A piece that
// continues a word begins with "##".
type Table struct {
	count, longest, buckets               int
	bucket, offset, factor, row, textPart string
}

const (
	magic    = "CARDEMB1"
	idSize   = 8
	headSize = len(magic) + idSize + 4*4
)

//go:embed table.bin
var builtin string

// Builtin returns the table that is part of the program.
var Builtin = sync.OnceValues(func() (*Table, error) { return Open(builtin) })

// Open reads a table. An error means that the data is not a valid table.
func Open(data string) (*Table, error) {
	if len(data) < headSize || data[:len(magic)] != magic {
		return nil, errors.New("read the table of the embedding: it does not begin as one")
	}
	number := func(i int) int { return int(u32(data, len(magic)+idSize+4*i)) }
	t := &Table{count: number(0), longest: number(2), buckets: number(3)}
	if number(1) != Dims || t.count < 1 || t.count >= math.MaxUint16 || t.buckets <= t.count || t.buckets&(t.buckets-1) != 0 || t.buckets > 1<<17 {
		return nil, fmt.Errorf("read the table of the embedding: %d rows of %d numbers in %d slots are not understood", t.count, number(1), t.buckets)
	}
	rest := data[headSize:]
	for _, part := range []struct {
		into *string
		size int
	}{{&t.bucket, 2 * t.buckets}, {&t.offset, 4 * (t.count + 1)}, {&t.factor, 4 * t.count}, {&t.row, Dims * t.count}} {
		if len(rest) < part.size {
			return nil, errors.New("read the table of the embedding: it is cut off")
		}
		*part.into, rest = rest[:part.size], rest[part.size:]
	}
	t.textPart = rest
	if int(u32(t.offset, 4*t.count)) != len(rest) {
		return nil, errors.New("read the table of the embedding: it is cut off")
	}
	return t, nil
}

// Zeroed returns the data of a table whose rows are all zero, so that no command has a vector.
// Tests show with it that a find comes from the embedding.
func Zeroed(data string) (string, error) {
	t, err := Open(data)
	if err != nil {
		return "", err
	}
	b := []byte(data)
	rows := headSize + len(t.bucket) + len(t.offset) + len(t.factor)
	clear(b[rows : rows+len(t.row)])
	copy(b[len(magic):], digest(b))
	return string(b), nil
}

// digest returns the id of a table's data.
func digest(data []byte) []byte {
	sum := sha256.Sum256(data[len(magic)+idSize:])
	return sum[:idSize]
}

func u16(s string, at int) uint16 { return uint16(s[at]) | uint16(s[at+1])<<8 }

func u32(s string, at int) uint32 {
	return uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
}

// The hash of pieces is 32-bit FNV-1a.
const (
	hashStart = 2166136261
	hashPrime = 16777619
)

// continued is the hash of "##", with which a piece within a word begins.
const continued = uint32(((hashStart^'#')*hashPrime&math.MaxUint32 ^ '#') * hashPrime & math.MaxUint32)

// find returns the row of a piece, or -1. inside means that the piece continues a word.
func (t *Table) find(piece []byte, inside bool) int {
	h, prefix := uint32(hashStart), 0
	if inside {
		h, prefix = continued, 2
	}
	for _, c := range piece {
		h = (h ^ uint32(c)) * hashPrime
	}
	// A damaged table may have no free slot, so the tries are bounded.
	for try := range t.buckets {
		n := int(u16(t.bucket, 2*((int(h)+try)&(t.buckets-1))))
		if n == 0 || n > t.count {
			return -1
		}
		if text := t.text(n - 1); len(text) == prefix+len(piece) && text[prefix:] == string(piece) && (prefix == 0 || text[:prefix] == "##") {
			return n - 1
		}
	}
	return -1
}

// text returns the text of a row's piece.
func (t *Table) text(row int) string {
	from, to := u32(t.offset, 4*row), u32(t.offset, 4*row+4)
	if from > to || int(to) > len(t.textPart) {
		return ""
	}
	return t.textPart[from:to]
}

// add adds a row to a sum.
func (t *Table) add(row int, sum *[Dims]float32) {
	weight := math.Float32frombits(u32(t.factor, 4*row))
	values := t.row[Dims*row:][:Dims]
	for i := range sum {
		// The conversion keeps processors from rounding once instead of twice, so that vectors are
		// the same on all of them.
		sum[i] += float32(weight * float32(int8(values[i])))
	}
}

// Data returns the data of the table that is part of the program.
func Data() string { return builtin }
