package embedding

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table and the plot of docs/near-embedding.md")

// threshold is the default of the setting near.embedding.
const threshold = 0.85

// pair is a labelled pair of commands.
type pair struct {
	a, b string
	same bool
	// trained is set where the training saw one of the two programs.
	trained    bool
	similarity float32
}

func pairs(t *testing.T, table *Table) []pair {
	t.Helper()
	trained := map[string]bool{}
	for _, line := range lines(t, "../../../scripts/distill/intents.txt") {
		for c := range strings.SplitSeq(line, " || ") {
			trained[strings.Fields(c)[0]] = true
		}
	}
	var out []pair
	for _, line := range lines(t, "testdata/pairs.tsv") {
		f := strings.Split(line, "\t")
		if len(f) != 3 || f[0] != "same" && f[0] != "different" {
			t.Fatalf("%q is no pair", line)
		}
		p := pair{a: f[1], b: f[2], same: f[0] == "same"}
		p.trained = trained[strings.Fields(p.a)[0]] || trained[strings.Fields(p.b)[0]]
		a, ok := table.Vector(p.a)
		b, ok2 := table.Vector(p.b)
		if ok && ok2 {
			p.similarity = Similarity(&a, &b)
		}
		out = append(out, p)
	}
	return out
}

// lines returns the lines of a file without comments.
func lines(t *testing.T, path string) (out []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if s.Text() != "" && !strings.HasPrefix(s.Text(), "#") {
			out = append(out, s.Text())
		}
	}
	return out
}

// rates returns how many of the pairs above a threshold are the same (precision), and how
// many of those that are the same are above it (recall), in percent.
func rates(pairs []pair, least float32) (precision, recall float64) {
	found, right, all := 0, 0, 0
	for _, p := range pairs {
		if p.same {
			all++
		}
		if p.similarity >= least {
			found++
			if p.same {
				right++
			}
		}
	}
	return 100 * float64(right) / float64(max(1, found)), 100 * float64(right) / float64(max(1, all))
}

// The table and the plot of the page are those of the program's own table, and the
// default threshold is a good one.
func TestCalibration(t *testing.T) {
	all := pairs(t, open(t))
	unseen := slices.DeleteFunc(slices.Clone(all), func(p pair) bool { return p.trained })
	same := 0
	for _, p := range all {
		if p.same {
			same++
		}
	}
	if len(all) < 400 || same < 150 || len(all)-same < 150 || len(unseen) < 80 {
		t.Errorf("%d pairs, %d of them the same, %d of programs that the training did not see: that is too few", len(all), same, len(unseen))
	}
	if precision, recall := rates(all, threshold); precision < 90 || recall < 75 {
		t.Errorf("at %v: precision %.1f %%, recall %.1f %%", threshold, precision, recall)
	}
	if precision, _ := rates(unseen, threshold); precision < 90 {
		t.Errorf("programs that the training did not see: precision %.1f %%", precision)
	}
	if precision, recall := rates(pairs(t, zeroed(t)), threshold); precision != 0 || recall != 0 {
		t.Errorf("a table that is zero finds pairs: %v, %v", precision, recall)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%d pairs, %d of them the same; %d pairs, %d of them the same, of programs that the training did not see.\n\n", len(all), same, len(unseen), count(unseen))
	b.WriteString("| threshold | precision | recall | precision, unseen programs | recall, unseen programs |\n|---|---|---|---|---|\n")
	for i := 60; i <= 95; i += 5 {
		least := float32(i) / 100
		p, r := rates(all, least)
		up, ur := rates(unseen, least)
		mark := ""
		if i == 100*threshold {
			mark = " (default)"
		}
		fmt.Fprintf(&b, "| %.2f%s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", least, mark, p, r, up, ur)
	}
	b.WriteString("\nPairs that are different and above the default threshold:\n\n")
	slices.SortStableFunc(all, func(a, b pair) int { return int(1e6 * (b.similarity - a.similarity)) })
	for _, p := range all {
		if !p.same && p.similarity >= threshold {
			fmt.Fprintf(&b, "- %.2f `%s`, `%s`\n", p.similarity, p.a, p.b)
		}
	}
	const begin, end = "<!-- calibration: written by go test ./internal/memory/embedding -run TestCalibration -update -->\n", "<!-- end of calibration -->\n"
	page := filepath.Join("..", "..", "..", "docs", "near-embedding.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the calibration", page)
	}
	current(t, page, string(text), before+begin+"\n"+b.String()+"\n"+end+after)
	drawing := filepath.Join("..", "..", "..", "docs", "near-embedding.svg")
	old, err := os.ReadFile(drawing)
	if err != nil && !*update {
		t.Fatal(err)
	}
	current(t, drawing, string(old), plot(all, unseen))
}

func count(pairs []pair) (same int) {
	for _, p := range pairs {
		if p.same {
			same++
		}
	}
	return same
}

// current checks that a file has a text, or writes it.
func current(t *testing.T, path, is, want string) {
	t.Helper()
	if is == want {
		return
	}
	if !*update {
		t.Errorf("%s is not current: go test ./internal/memory/embedding -run TestCalibration -update", path)
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plot draws precision and recall over the threshold.
func plot(all, unseen []pair) string {
	const width, height, left, top = 560, 300, 50, 20
	x := func(least float32) float64 { return left + float64(least-0.5)/0.5*width }
	y := func(percent float64) float64 { return top + (100-percent)/60*height }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width+left+30, height+top+70)
	b.WriteString(`<title>Precision and recall of the embedding, by threshold</title>` + "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n")
	for p := 40; p <= 100; p += 10 {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.0f" y2="%.0f" stroke="#ddd"/><text x="%d" y="%.0f" text-anchor="end">%d %%</text>`+"\n",
			left, left+width, y(float64(p)), y(float64(p)), left-6, y(float64(p))+4, p)
	}
	for i := 50; i <= 100; i += 5 {
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%.2f</text>`+"\n", x(float32(i)/100), top+height+18, float64(i)/100)
	}
	fmt.Fprintf(&b, `<line x1="%.0f" x2="%.0f" y1="%d" y2="%d" stroke="#888" stroke-dasharray="4"/><text x="%.0f" y="%d" text-anchor="end" fill="#555">default</text>`+"\n",
		x(threshold), x(threshold), top, top+height, x(threshold)-4, top+height-8)
	for n, line := range []struct {
		name, colour, dash string
		pairs              []pair
		recall             bool
	}{
		{"precision", "#06c", "", all, false}, {"recall", "#c50", "", all, true},
		{"precision, unseen programs", "#06c", ` stroke-dasharray="2 3"`, unseen, false}, {"recall, unseen programs", "#c50", ` stroke-dasharray="2 3"`, unseen, true},
	} {
		var points strings.Builder
		for i := 50; i < 98; i++ {
			p, r := rates(line.pairs, float32(i)/100)
			if line.recall {
				p = r
			}
			fmt.Fprintf(&points, "%.1f,%.1f ", x(float32(i)/100), y(max(40, p)))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.TrimSpace(points.String()), line.colour, line.dash)
		at := left + n%2*230
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%d" y2="%[3]d" stroke="%s" stroke-width="2"%s/><text x="%d" y="%d">%s</text>`+"\n",
			at, at+24, top+height+38+n/2*16, line.colour, line.dash, at+30, top+height+42+n/2*16, line.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// Dot returns the inner product of two vectors.
func Dot(a, b *Vector) int32 {
	sum := int32(0)
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}

// Similarity returns the cosine of the angle between two vectors, from −1 to 1: 1 if they
// point the same way.
func Similarity(a, b *Vector) float32 {
	norms := float64(Dot(a, a)) * float64(Dot(b, b))
	if norms == 0 {
		return 0
	}
	return float32(float64(Dot(a, b)) / math.Sqrt(norms))
}
