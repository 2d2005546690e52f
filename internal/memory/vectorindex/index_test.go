package vectorindex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardea.dev/internal/base/state"
)

const dims = 64

// clusters returns vectors in clusters, as commands form them: some hundred centers, and vectors
// near them.
func clusters(r *rand.Rand, n int) []int8 {
	middles := make([][dims]float64, n/40+1)
	for i := range middles {
		for j := range middles[i] {
			middles[i][j] = r.NormFloat64()
		}
	}
	out := make([]int8, 0, n*dims)
	for range n {
		middle := &middles[r.IntN(len(middles))]
		spread := 0.2 + 0.8*r.Float64()
		for _, x := range middle {
			out = append(out, int8(max(-127, min(127, 30*(x+spread*r.NormFloat64())))))
		}
	}
	return out
}

func labels(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// nearest compares all vectors of a list.
func nearest(query, list []int8, least float32, wanted int) (out []Hit) {
	b := best{wanted: wanted, least: least}
	for i := range len(list) / dims {
		b.add(int32(i), Similarity(query, list[i*dims:][:dims]))
	}
	for _, n := range b.near {
		out = append(out, Hit{strconv.Itoa(int(n.number)), n.similarity})
	}
	return out
}

func key() []byte { return make([]byte, state.KeySize) }

func written(t testing.TB, groups ...Group) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index")
	if err := Write(path, key(), "source", "stamp", dims, groups); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t testing.TB, path string) *Index {
	t.Helper()
	x, err := Open(path, key(), "source", dims)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// What a search over sketches finds is what comparing all vectors finds.
func TestSearchFindsWhatIsThere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := clusters(r, 5000)
	x := opened(t, written(t, Group{"allow", labels(5000), list}))
	if x.Count() != 5000 || !x.Current("stamp") || x.Current("other") {
		t.Errorf("%d vectors of %q", x.Count(), x.stamp)
	}
	wanted, found := 0, 0
	for range 200 {
		i := r.IntN(5000)
		query := slices.Clone(list[i*dims:][:dims])
		for j := range query {
			query[j] = int8(max(-127, min(127, int(query[j])+r.IntN(11)-5)))
		}
		all := nearest(query, list, 0.85, 10)
		got, err := x.Search("allow", query, 0.85, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 || len(got) == 0 || got[0] != all[0] {
			t.Fatalf("%v, %v", got, all)
		}
		wanted += len(all)
		for _, h := range all {
			if slices.Contains(got, h) {
				found++
			}
		}
	}
	if recall := float64(found) / float64(wanted); recall < 0.999 {
		t.Errorf("%d of %d are found", found, wanted)
	}
}

// Groups do not see each other, and answers have an order that does not depend on luck.
func TestGroups(t *testing.T) {
	a := make([]int8, dims)
	a[3] = 100
	b := slices.Clone(a)
	b[5] = 40
	twice := append(slices.Clone(a), a...)
	x := opened(t, written(t, Group{"tester allow", []string{"7", "9"}, append(slices.Clone(b), a...)}, Group{"any ask", []string{"5", strings.Repeat("4", 9000)}, twice}, Group{"empty", nil, nil}))
	for group, want := range map[string]string{"tester allow": "[{9 1} {7 0.9284767}]", "any ask": "[{5 1} {" + strings.Repeat("4", 9000) + " 1}]", "empty": "[]", "other": "[]"} {
		got, err := x.Search(group, a, 0.85, 10)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", group, got, err, want)
		}
	}
	if got, err := x.Search("any ask", a, 0.85, 1); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := x.Search("tester allow", a, 0.95, 10); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := x.Search("any ask", a[:5], 0.85, 1); err == nil {
		t.Error("a query of another size")
	}
}

// A heap of more equal vectors than are compared hides nothing that is nearer, and a
// search of it ends.
func TestMoreThanAreCompared(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	base := clusters(r, 1)
	var list []int8
	for range 3 * maxExact {
		v := slices.Clone(base)
		v[r.IntN(dims)] += 9
		list = append(list, v...)
	}
	list = append(list, base...)
	n := len(list) / dims
	x := opened(t, written(t, Group{"g", labels(n), list}))
	got, err := x.Search("g", base, 0.85, 5)
	if err != nil || len(got) != 5 || got[0].Label != strconv.Itoa(n-1) {
		t.Errorf("%v, %v", got, err)
	}
	// All at the same distance.
	x = opened(t, written(t, Group{"g", labels(3 * maxExact), list[:3*maxExact*dims]}))
	if got, err := x.Search("g", base, 0.85, 5); err != nil || len(got) != 5 {
		t.Errorf("%v, %v", got, err)
	}
}

// A forged index is not trusted: another key, another source, any changed byte, pages of another
// file, a truncated file.
func TestForgedIndexes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	list := clusters(r, 300)
	g := Group{"g", labels(300), list}
	path := written(t, g)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := key()
	other[0] = 1
	if _, err := Open(path, other, "source", dims); !errors.Is(err, ErrOther) {
		t.Errorf("another key: %v", err)
	}
	if _, err := Open(path, nil, "source", dims); !errors.Is(err, ErrOther) {
		t.Errorf("no key: %v", err)
	}
	if _, err := Open(path, key(), "changed", dims); !errors.Is(err, ErrOther) {
		t.Errorf("another source: %v", err)
	}
	if _, err := Open(path, key(), "source", 2*dims); !errors.Is(err, ErrOther) {
		t.Errorf("other vectors: %v", err)
	}
	if err := Write(path, nil, "source", "stamp", dims, nil); err == nil {
		t.Error("written without a key")
	}
	// all reads every vector.
	all := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := Open(path, key(), "source", dims)
		if err != nil {
			return err
		}
		defer x.Close()
		return x.Check()
	}
	if err := all(good); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		b := slices.Clone(good)
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		if all(b) == nil {
			t.Fatal("a changed file is believed")
		}
		if all(good[:r.IntN(len(good))]) == nil {
			t.Fatal("half a file is believed")
		}
	}
	second, err := os.ReadFile(written(t, g))
	if err != nil {
		t.Fatal(err)
	}
	pages := len(good) - pageSize
	if all(append(slices.Clone(good[:pages]), second[pages:]...)) == nil {
		t.Error("a page of another file is believed")
	}
	swapped := slices.Clone(good)
	copy(swapped[pages:], good[pages-pageSize:pages])
	if all(swapped) == nil {
		t.Error("a page in another place is believed")
	}
	// Sizes are not trusted before the signature is checked.
	huge := slices.Clone(good[:fixedSize])
	for i := fixedSize - 8; i < fixedSize; i++ {
		huge[i] = 0xff
	}
	if all(huge) == nil {
		t.Error("a head with huge sizes is believed")
	}
}

func FuzzOpen(f *testing.F) {
	path := written(f, Group{"g", labels(3), clusters(rand.New(rand.NewPCG(7, 8)), 3)})
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	// Each process of the fuzzer writes a file of its own, with another salt. So the input is a
	// change: its position, the new bytes, and the end of the file.
	f.Add(0, []byte("x"), len(good))
	f.Add(fixedSize, []byte{}, fixedSize)
	f.Fuzz(func(t *testing.T, at int, with []byte, size int) {
		b := slices.Clone(good)
		if at >= 0 && at < len(b) {
			copy(b[at:], with)
		}
		if size >= 0 && size < len(b) {
			b = b[:size]
		} else if len(with) > 0 {
			b = append(b, with...)
		}
		path := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := Open(path, key(), "source", dims)
		if err == nil {
			if len(b) < fixedSize || !slices.Equal(b[:fixedSize], good[:fixedSize]) {
				t.Fatal("opened what was not written")
			}
			_ = x.Close()
		}
	})
}

func benchmarkSearch(b *testing.B, n int) {
	r := rand.New(rand.NewPCG(1, 2))
	list := clusters(r, n)
	path := written(b, Group{"g", labels(n), list})
	x := opened(b, path)
	b.Run("warm", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			at := i * 7919 % n
			if _, err := x.Search("g", list[at*dims:][:dims], 0.85, 8); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			x, err := Open(path, key(), "source", dims)
			if err != nil {
				b.Fatal(err)
			}
			at := i * 7919 % n
			if _, err := x.Search("g", list[at*dims:][:dims], 0.85, 8); err != nil {
				b.Fatal(err)
			}
			_ = x.Close()
		}
	})
	b.Run("all", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			nearest(list[i*7919%n*dims:][:dims], list, 0.85, 8)
		}
	})
}

func BenchmarkCheckSearch1000(b *testing.B)   { benchmarkSearch(b, 1000) }
func BenchmarkCheckSearch100000(b *testing.B) { benchmarkSearch(b, 100_000) }

// BenchmarkSearch1000000 takes a minute to prepare.
func BenchmarkSearch1000000(b *testing.B) { benchmarkSearch(b, 1_000_000) }
