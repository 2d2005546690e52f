package vectorindex

import (
	"math"
	"math/bits"
)

// sketchBits is the number of planes.
const sketchBits = 128

// sketch holds the side of each plane on which a vector is.
type sketch [2]uint64

func (s sketch) distance(o sketch) int {
	return bits.OnesCount64(s[0]^o[0]) + bits.OnesCount64(s[1]^o[1])
}

// sketcher makes sketches of vectors of one length. The planes are the same in every process.
type sketcher struct {
	signs [2][]float32
	room  [2][]float32
}

// newSketcher prepares planes for vectors of dims numbers: a random sign for each number, then the
// fast Hadamard transform, which makes as many sums of all numbers.
func newSketcher(dims int) *sketcher {
	size := sketchBits / 2
	for size < dims {
		size *= 2
	}
	s := &sketcher{}
	state := uint64(0x9e3779b97f4a7c15)
	for i := range s.signs {
		s.signs[i], s.room[i] = make([]float32, size), make([]float32, size)
		for j := range s.signs[i] {
			// xorshift64: the planes must never change, so they are not math/rand's.
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			s.signs[i][j] = 1 - 2*float32(state>>63)
		}
	}
	return s
}

// of returns the sketch of a vector.
func (s *sketcher) of(v []int8) (out sketch) {
	for i, signs := range s.signs {
		room := s.room[i]
		clear(room)
		for j, x := range v {
			room[j] = signs[j] * float32(x)
		}
		hadamard(room)
		for j, x := range room[:sketchBits/2] {
			if x > 0 {
				out[i] |= 1 << j
			}
		}
	}
	return out
}

// hadamard replaces numbers by their Hadamard transform. Their count is a power of two.
func hadamard(a []float32) {
	for half := 1; half < len(a); half *= 2 {
		for at := 0; at < len(a); at += 2 * half {
			for i := at; i < at+half; i++ {
				a[i], a[i+half] = a[i]+a[i+half], a[i]-a[i+half]
			}
		}
	}
}

// farthest returns the largest number of bits by which the sketches of two vectors may differ whose
// similarity is at least least. A plane separates two vectors with the probability angle/π. The
// bound is three and a half standard deviations above the mean.
func farthest(least float32) int {
	p := math.Acos(min(1, max(-1, float64(least)))) / math.Pi
	return min(sketchBits, int(math.Ceil(sketchBits*p+3.5*math.Sqrt(sketchBits*p*(1-p)))))
}
