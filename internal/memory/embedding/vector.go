package embedding

import "math"

// Vector is the meaning of a command in the table's space. Only its direction matters.
type Vector [Dims]int8

// Vector returns the vector of a command. It returns false if the text is too long, or no piece of
// it is in the table. It does not allocate.
func (t *Table) Vector(text string) (v Vector, ok bool) {
	if len(text) > maxText {
		return v, false
	}
	var sums [groups][Dims]float32
	var counts [groups]int
	Words(text, func(w string, g Group) {
		var sum [Dims]float32
		n := 0
		t.pieces(w, func(row int) {
			if row != unknown {
				t.add(row, &sum)
			}
			n++
		})
		if n == 0 {
			return
		}
		counts[g]++
		for i, x := range sum {
			sums[g][i] += x / float32(n)
		}
	})
	var whole [Dims]float32
	for g := range sums {
		if counts[g] == 0 {
			continue
		}
		share := weights[g] / float32(math.Sqrt(float64(counts[g])))
		for i, x := range sums[g] {
			whole[i] += float32(share * x)
		}
	}
	return quantized(&whole)
}

// quantized returns numbers scaled so that the largest is 127.
func quantized(sum *[Dims]float32) (v Vector, ok bool) {
	largest := float32(0)
	for _, x := range sum {
		largest = max(largest, x, -x)
	}
	if !(largest > 0) || math.IsInf(float64(largest), 1) {
		return v, false
	}
	for i, x := range sum {
		v[i] = int8(math.RoundToEven(float64(x / largest * 127)))
	}
	return v, true
}
