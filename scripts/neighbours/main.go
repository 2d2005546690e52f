// Command neighbours compares ways to find near vectors: the graph of coder/hnsw, the
// sketches of internal/memory/vectorindex, and a scan of all vectors. It is a separate
// module, so that Cardea does not depend on the graph (docs/decisions/similar-calls.md). Run it in its
// folder:
//
//	go run . -n 100000
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cardea.dev/internal/memory/embedding"
	"cardea.dev/internal/memory/vectorindex"
	"github.com/coder/hnsw"
)

const (
	queries   = 200
	wanted    = 4
	threshold = 0.85
)

func main() {
	n := flag.Int("n", 100_000, "how many commands")
	graph := flag.Bool("graph", true, "measure the graph, too")
	flag.Parse()
	if err := run(*n, *graph); err != nil {
		fmt.Fprintln(os.Stderr, "neighbours:", err)
		os.Exit(1)
	}
}

// commands returns commands as people allow them, many of them similar.
func commands(n int, r *rand.Rand) []string {
	programs := strings.Fields("git npm yarn go cargo docker kubectl pytest make terraform ls cat grep rm cp mkdir curl aws gh pip node python rg sed jq tar")
	verbs := strings.Fields("test build run add commit push pull status log diff get apply plan install list show describe lint format check delete start stop logs exec")
	words := strings.Fields("auth login user order invoice web api worker server client cache store queue page table form chart report export import search index model view main util core")
	w := func() string { return words[r.IntN(len(words))] }
	out := make([]string, n)
	for i := range out {
		c := programs[r.IntN(len(programs))] + " " + verbs[r.IntN(len(verbs))]
		if r.IntN(3) == 0 {
			c += " --" + w()
		}
		for range r.IntN(3) {
			c += " src/" + w() + "/" + w() + strconv.Itoa(r.IntN(90)) + ".go"
		}
		out[i] = c
	}
	return out
}

// used returns the processor time of this process. On a busy machine it is more meaningful
// than elapsed time.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func memory() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// run makes n vectors, and measures each way.
func run(n int, graph bool) error {
	r := rand.New(rand.NewPCG(1, 2))
	table, err := embedding.Builtin()
	if err != nil {
		return err
	}
	texts := commands(n+queries, r)
	slices.Sort(texts[:n]) // lessons are sorted in their files
	vectors := make([]int8, 0, len(texts)*embedding.Dims)
	begin := used()
	for _, t := range texts {
		v, _ := table.Vector(t)
		vectors = append(vectors, v[:]...)
	}
	fmt.Printf("%d commands: %.1f µs for each vector\n", n, (used()-begin).Seconds()/float64(len(texts))*1e6)
	at := func(i int) []int8 { return vectors[i*embedding.Dims:][:embedding.Dims] }

	// The expected results: those of the nearest that are near enough.
	truth := make([]map[int]bool, queries)
	begin = used()
	for q := range truth {
		truth[q] = nearest(at(n+q), vectors[:n*embedding.Dims])
	}
	report("all vectors", 0, (used() - begin), 1, 0)

	if err := sketches(n, at, vectors, truth); err != nil {
		return err
	}
	if graph {
		return nodes(n, at, truth)
	}
	return nil
}

// nearest returns the numbers of the vectors that are at least as near as the last wanted one.
func nearest(query, list []int8) map[int]bool {
	best := make([]float32, 0, wanted+1)
	all := make([]float32, len(list)/embedding.Dims)
	for i := range all {
		all[i] = vectorindex.Similarity(query, list[i*embedding.Dims:][:embedding.Dims])
		if all[i] < threshold || len(best) == wanted && all[i] <= best[wanted-1] {
			continue
		}
		j := len(best)
		best = append(best, all[i])
		for ; j > 0 && best[j-1] < all[i]; j-- {
			best[j] = best[j-1]
		}
		best[j] = all[i]
		best = best[:min(len(best), wanted)]
	}
	out := map[int]bool{}
	if len(best) > 0 {
		for i, s := range all {
			if s >= best[len(best)-1] {
				out[i] = true
			}
		}
	}
	return out
}

// recall counts the expected and the found results, at most as many as are wanted.
type recall struct{ found, all int }

func (r *recall) add(truth map[int]bool, got []int) {
	n := 0
	for _, i := range got {
		if truth[i] {
			n++
		}
	}
	r.found += n
	r.all += min(wanted, len(truth))
}

func (r recall) share() float64 { return float64(r.found) / math.Max(1, float64(r.all)) }

func report(what string, build, query time.Duration, recall, mb float64) {
	fmt.Printf("%-24s build %8.0f ms, query %8.3f ms, recall %.4f, %.0f MB\n", what, float64(build.Microseconds())/1e3,
		query.Seconds()/queries*1e3, recall, mb)
}

// sketches measures the sketches, with an open index and with one that is opened for each
// query.
func sketches(n int, at func(int) []int8, vectors []int8, truth []map[int]bool) error {
	dir, err := os.MkdirTemp("", "neighbours")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, key := filepath.Join(dir, "index"), make([]byte, 32)
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(i)
	}
	begin := used()
	if err := vectorindex.Write(path, key, "", "", embedding.Dims, []vectorindex.Group{{Name: "g", Labels: labels, Vectors: vectors[:n*embedding.Dims]}}); err != nil {
		return err
	}
	build := (used() - begin)
	search := func(x *vectorindex.Index, q int) ([]int, error) {
		hits, err := x.Search("g", at(n+q), threshold, wanted)
		var got []int
		for _, h := range hits {
			i, _ := strconv.Atoi(h.Label)
			got = append(got, i)
		}
		return got, err
	}
	var cold time.Duration
	for q := range queries / 10 {
		begin := used()
		x, err := vectorindex.Open(path, key, "", embedding.Dims)
		if err != nil {
			return err
		}
		if _, err := search(x, q); err != nil {
			return err
		}
		cold += 10 * (used() - begin)
		_ = x.Close()
	}
	before := memory()
	x, err := vectorindex.Open(path, key, "", embedding.Dims)
	if err != nil {
		return err
	}
	defer x.Close()
	var r recall
	for range 2 { // the first round reads the pages
		begin, r = used(), recall{}
		for q := range truth {
			got, err := search(x, q)
			if err != nil {
				return err
			}
			r.add(truth[q], got)
		}
	}
	report("sketches, open", build, (used() - begin), r.share(), memory()-before)
	report("sketches, from the file", build, cold, r.share(), memory()-before)
	info, err := os.Stat(path)
	if err == nil {
		fmt.Printf("the file has %.1f MB\n", float64(info.Size())/(1<<20))
	}
	return err
}

// nodes measures the graph.
func nodes(n int, at func(int) []int8, truth []map[int]bool) error {
	before := memory()
	g := hnsw.NewGraph[int]()
	g.Rng = nil
	floats := func(v []int8) []float32 {
		out := make([]float32, len(v))
		for i, x := range v {
			out[i] = float32(x)
		}
		return out
	}
	begin := used()
	for i := range n {
		g.Add(hnsw.MakeNode(i, floats(at(i))))
	}
	build := (used() - begin)
	for _, ef := range []int{20, 100} {
		g.EfSearch = ef
		var r recall
		begin = used()
		for q := range truth {
			var got []int
			for _, node := range g.Search(floats(at(n+q)), wanted) {
				if vectorindex.Similarity(at(n+q), at(node.Key)) >= threshold {
					got = append(got, node.Key)
				}
			}
			r.add(truth[q], got)
		}
		report(fmt.Sprintf("graph, ef %d", ef), build, (used() - begin), r.share(), memory()-before)
	}
	return nil
}
