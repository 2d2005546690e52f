package judge

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAdapt(t *testing.T) {
	for _, c := range []struct {
		agreed, overruled int
		base, want        float64
	}{
		{0, 0, 0.6, 0.6}, {0, 19, 0.6, 0.6}, {19, 0, 0.6, 0.6}, // too few
		{16, 4, 0.6, 0.6}, {14, 6, 0.6, 0.65}, {18, 2, 0.6, 0.55}, {20, 0, 0.6, 0.5}, {0, 20, 0.6, 0.8},
		{20, 0, 0.55, 0.5}, {0, 100, 0.9, 0.99}, {100, 0, 0.9, 0.8}, {100, 0, 0.3, 0.3}, {0, 100, 1, 1}, {-100, 200, 0.6, 0.6},
	} {
		if got := (Agreement{c.agreed, c.overruled}).Adapt(c.base); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d agreed, %d overruled, %g: %g, want %g", c.agreed, c.overruled, c.base, got, c.want)
		}
	}
}

// More overruling never lowers what is needed, and nothing leaves the bounds.
func TestAdaptIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		a := Agreement{r.IntN(200), r.IntN(200)}
		base := r.Float64()
		got := a.Adapt(base)
		more := Agreement{a.Agreed, a.Overruled + 1}.Adapt(base)
		if a.Agreed+a.Overruled >= leastEnds && more < got-1e-9 {
			t.Fatalf("%+v, %g: %g, and overruled once more %g", a, base, got, more)
		}
		if got < base-mostLower-1e-9 || got > base+mostHigher+1e-9 || got < min(lowest, base) || got > max(highest, base) {
			t.Fatalf("%+v, %g: %g", a, base, got)
		}
	}
}
