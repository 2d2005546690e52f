package similar_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"cardea.dev/internal/memory/similar"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		text       string
		words, all int
	}{
		{"", 0, 0}, {"ls", 1, 1}, {"npm test", 2, 3}, {"pytest --cov tests/auth/", 4, 7}, {"a a A a", 1, 2}, {"x_y", 1, 1}, {"a\tb\nc", 3, 4},
		{"ÄB äb", 1, 2}, {"---", 0, 1}, {"a-b", 2, 3},
	} {
		if s := similar.Tokens("", c.text); s.Words() != c.words || s.Len() != c.all {
			t.Errorf("%q has %d words and %d tokens, want %d and %d", c.text, s.Words(), s.Len(), c.words, c.all)
		}
	}
	var long bytes.Buffer
	for i := range similar.MaxTokens {
		fmt.Fprintf(&long, "w%d ", i)
	}
	if s := similar.Tokens("", long.String()); s.Len() != 0 {
		t.Errorf("a text with %d words has %d tokens, want none", similar.MaxTokens, s.Len())
	}
	if similar.Jaccard(similar.Tokens("a", "x y"), similar.Tokens("b", "x y")) != 0 {
		t.Error("texts of two kinds have tokens in common")
	}
}

// The pairs that hookwise names as examples of its first two stages.
func TestJaccardOfExamples(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"pytest --cov tests/auth/", "pytest --cov tests/api/", 0.75},
		{"cargo build --release", "cargo build --release --target x86_64", 0.71},
		{"rm -rf /tmp/build-output", "rm -rf /tmp/build-cache", 0.78},
		{"npm test", "yarn test", 0.5},
		{"docker compose up", "docker-compose up", 0.8},
		{"cat README.md", "less README.md", 0.67},
		{"git push origin main", "git push --force origin main", 0.71},
		{"x", "x", 1}, {"", "", 0}, {"a", "b", 0},
	} {
		if got := similar.Jaccard(similar.Tokens("", c.a), similar.Tokens("", c.b)); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%q and %q: %.3f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}

// lines returns n command lines as people allow them.
func lines(n int, r *rand.Rand) []string {
	words := make([]string, 400)
	for i := range words {
		words[i] = string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(26))) + fmt.Sprint(i)
	}
	word := func() string { return words[int(math.Abs(r.NormFloat64())*80)%len(words)] }
	forms := []func() string{
		func() string { return "pytest --cov tests/" + word() + "/test_" + word() + ".py" },
		func() string { return "git add src/" + word() + "/" + word() + ".ts" },
		func() string { return "git commit -m '" + word() + " " + word() + " " + word() + "'" },
		func() string { return "go test ./internal/" + word() },
		func() string { return "npx prettier --write src/" + word() + ".ts" },
		func() string { return "cargo test -p " + word() },
		func() string { return "cp src/" + word() + ".ts src/" + word() + ".ts" },
		func() string { return "docker compose -f " + word() + ".yml up -d " + word() },
		func() string { return "curl -sS https://" + word() + ".example.com/" + word() },
		func() string { return "kubectl get pods -n " + word() },
		func() string { return word() + " --" + word() + " " + word() + "/" + word() },
		func() string { return "psql " + word() + " -c 'select " + word() + " from " + word() + "'" },
	}
	out := make([]string, n)
	for i := range out {
		out[i] = forms[r.IntN(len(forms))]()
	}
	return out
}

// An index finds what a comparison with every set finds.
func TestIndexFindsWhatAFullSearchFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := lines(3000, r)
	entries := make([]similar.Entry, len(all))
	for i, line := range all {
		entries[i] = similar.Entry{Set: similar.Tokens("", line), Group: similar.Group(i % 3), Label: uint16(i % 2)}
	}
	data := build(0.6, len(entries), func(i int) similar.Entry { return entries[i] })
	x, err := similar.OpenAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for _, line := range append(lines(500, r), all[:200]...) {
		for _, threshold := range []float64{0.6, 0.7, 0.9, 1} {
			q := similar.Query{Set: similar.Tokens("", line), Group: similar.Group(r.IntN(3)), Threshold: threshold, Labels: []uint16{uint16(r.IntN(2))}, Most: 10}
			var want []similar.Match
			for i, e := range entries {
				if got := similar.Jaccard(q.Set, e.Set); got >= threshold-1e-9 && e.Group == q.Group && e.Label == q.Labels[0] {
					want = append(want, similar.Match{Number: i, Score: got})
				}
			}
			slices.SortStableFunc(want, func(a, b similar.Match) int {
				switch {
				case a.Score > b.Score:
					return -1
				case a.Score < b.Score:
					return 1
				}
				return a.Number - b.Number
			})
			hits += len(want)
			want = want[:min(len(want), q.Most)]
			if got, err := x.Find(q); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q at %g: got %v, %v, want %v", line, threshold, got, err, want)
			}
		}
	}
	if hits < 1000 {
		t.Fatalf("only %d matches: the lines are too different", hits)
	}
}

// build makes an index of so many entries.
func build(threshold float64, count int, at func(int) similar.Entry) []byte {
	return similar.Build(threshold, func(yield func(int, []byte) bool) {
		var b []byte
		for i := range count {
			if b = at(i).Append(b[:0]); !yield(i, b) {
				return
			}
		}
	})
}

// Where too many are similar, a search ends after so many looks and has found some.
func TestLooksEnd(t *testing.T) {
	data := build(0.7, 5000, func(i int) similar.Entry {
		return similar.Entry{Set: similar.Tokens("", fmt.Sprintf("git add src/f%d.ts", i))}
	})
	x, err := similar.OpenAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Find(similar.Query{Set: similar.Tokens("", "git add src/new.ts"), Threshold: 0.7, Labels: []uint16{0}, Most: 8, Looks: 100})
	if err != nil || len(got) != 8 {
		t.Fatal(got, err)
	}
}

// An index that is damaged is an error, or finds something else. It is never a panic.
func FuzzOpen(f *testing.F) {
	data := build(0.7, 20, func(i int) similar.Entry {
		return similar.Entry{Set: similar.Tokens("", fmt.Sprintf("git add src/f%d.ts", i)), Group: similar.Group(i % 3)}
	})
	f.Add(data, "git add src/x.ts")
	f.Add(data[:20], "a")
	for _, at := range []int{1, 4, 8, 12, 17, 21, 40, len(data) / 2, len(data) - 3} {
		damaged := slices.Clone(data)
		damaged[at] ^= 0xff
		f.Add(damaged, "git add src/x.ts")
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		x, err := similar.OpenAt(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		got, _ := x.Find(similar.Query{Set: similar.Tokens("", text), Threshold: 0.7, Labels: []uint16{0}, Most: 3, Looks: 100})
		if len(got) > 3 {
			t.Errorf("%d matches", len(got))
		}
	})
}

func BenchmarkCheckJaccardPair(b *testing.B) {
	x, y := similar.Tokens("", "pytest --cov tests/auth/test_login.py"), similar.Tokens("", "pytest --cov tests/api/test_login.py")
	for b.Loop() {
		similar.Jaccard(x, y)
	}
}

// One pair with the tokens of both texts.
func BenchmarkCheckJaccardTexts(b *testing.B) {
	for b.Loop() {
		similar.Jaccard(similar.Tokens("", "pytest --cov tests/auth/"), similar.Tokens("", "pytest --cov tests/api/"))
	}
}

func BenchmarkCheckJaccardIndex(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		if n > 100_000 && testing.Short() {
			continue
		}
		r := rand.New(rand.NewPCG(3, 4))
		all := lines(n, r)
		data := build(0.7, n, func(i int) similar.Entry { return similar.Entry{Set: similar.Tokens("", all[i])} })
		x, err := similar.OpenAt(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		asked := lines(200, r)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			found, i := 0, 0
			for b.Loop() {
				got, _ := x.Find(similar.Query{Set: similar.Tokens("", asked[i%len(asked)]), Threshold: 0.7, Labels: []uint16{0}, Most: 8, Looks: 1024})
				found += min(1, len(got))
				i++
			}
			b.ReportMetric(float64(found)/float64(i), "hits/op")
			b.ReportMetric(float64(len(data)), "bytes")
		})
	}
}
