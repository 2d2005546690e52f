package vectorindex

import (
	"cmp"
	"math"
	"slices"
)

// Hit is a vector that a search found.
type Hit struct {
	// Label is the label with which the vector was added.
	Label string
	// Similarity is the cosine of the angle to the query.
	Similarity float32
}

// neighbour is a found vector, by its number.
type neighbour struct {
	number     int32
	similarity float32
}

// best holds the nearest vectors, at most wanted.
type best struct {
	near   []neighbour
	wanted int
	least  float32
}

// add adds a vector if it is among the nearest.
func (b *best) add(number int32, similarity float32) {
	if similarity < b.least || b.wanted <= 0 {
		return
	}
	n := neighbour{number, similarity}
	at, _ := slices.BinarySearchFunc(b.near, n, compare)
	b.near = slices.Insert(b.near, at, n)
	if len(b.near) > b.wanted {
		b.near = b.near[:b.wanted]
	}
	if len(b.near) == b.wanted {
		b.least = b.near[b.wanted-1].similarity
	}
}

// compare orders by similarity, the most similar first, and then by number.
func compare(a, b neighbour) int {
	return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.number, b.number))
}

// dot returns the inner product of two vectors of the same length.
func dot(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
		s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
		s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
		s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// Similarity returns the cosine of the angle between two vectors of the same length, from −1 to 1.
// It returns 0 if one has no direction.
func Similarity(a, b []int8) float32 {
	if len(a) != len(b) {
		return 0
	}
	return cosine(dot(a, b), dot(a, a), dot(b, b))
}

func cosine(product, first, second int32) float32 {
	if first == 0 || second == 0 {
		return 0
	}
	return float32(float64(product) / math.Sqrt(float64(first)*float64(second)))
}
