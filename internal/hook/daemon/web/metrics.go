package web

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev/internal/hook"
)

// Counts holds the figures of a daemon since its start.
type Counts struct {
	mu        sync.Mutex
	decisions map[series]uint64
	left      map[string]uint64
	refusals  map[int]uint64
	starts    uint64
	decided   histogram
	answered  histogram
}

// series holds the labels of a decision.
type series struct{ effect, harness, decider string }

// maxSeries is the most series, since messages contain the names of harnesses.
const maxSeries = 500

// bounds are the upper bounds of the histograms' classes, in seconds.
var bounds = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}

type histogram struct {
	classes [len(bounds) + 1]uint64
	sum     float64
	count   uint64
}

func (h *histogram) add(d time.Duration) {
	seconds := d.Seconds()
	i, _ := slices.BinarySearch(bounds[:], seconds)
	h.classes[i]++
	h.count++
	h.sum += seconds
}

// NewCounts returns figures that are all 0.
func NewCounts() *Counts {
	return &Counts{decisions: map[series]uint64{}, left: map[string]uint64{}, refusals: map[int]uint64{}}
}

// Decided counts the result of one run of check. Use it as [hook.Process.Decided].
func (c *Counts) Decided(d hook.Decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Left != "" {
		c.left[reason(d.Left)]++
		return
	}
	c.decided.add(d.Took)
	d.Effect = cmp.Or(d.Effect, "none")
	decider, _, _ := strings.Cut(d.By, ":")
	s := series{d.Effect, d.Harness, decider}
	if _, known := c.decisions[s]; !known && len(c.decisions) >= maxSeries {
		s = series{effect: d.Effect, harness: "other", decider: "other"}
	}
	c.decisions[s]++
}

// reason returns the reason why a call was left, without the name of a variable.
func reason(why string) string {
	if rest, is := strings.CutPrefix(why, "it depends on the variable "); is && rest != "" {
		return "it depends on a variable"
	}
	return why
}

func (c *Counts) http(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered.add(took)
}

func (c *Counts) refused(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusals[status]++
}

// elsewhere counts a start of cardea for a call that came over HTTP.
func (c *Counts) elsewhere() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts++
}

// Totals returns the decisions by effect, and the number of calls that were left.
func (c *Counts) Totals() (decisions map[string]uint64, left uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	decisions = map[string]uint64{}
	for s, n := range c.decisions {
		decisions[s.effect] += n
	}
	for _, n := range c.left {
		left += n
	}
	return decisions, left
}

// Gauge is an additional figure.
type Gauge struct {
	// Name and Help are those of Prometheus. A name that ends in _total is a counter.
	Name, Help string
	// Read returns the value, or false if it has none.
	Read func() (float64, bool)
}

// metrics writes the figures in the text format of Prometheus, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", s.Counts.text(s.gauges()))
}

// gauges returns the figures that are read at request time.
func (s *Server) gauges() []Gauge {
	is := func(v float64) func() (float64, bool) { return func() (float64, bool) { return v, true } }
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	own := []Gauge{
		{"cardea_start_time_seconds", "When the daemon began, in seconds since 1970.", is(float64(s.started.UnixMilli()) / 1000)},
		{"cardea_http_calls", "Hooks that are being answered over HTTP.", is(float64(len(s.places.all)))},
		{"cardea_http_connections", "Open connections.", is(float64(s.listener.count()))},
		{"cardea_heap_bytes", "Memory in use.", is(float64(m.HeapAlloc))},
		{"cardea_goroutines", "Things that are done at the same time.", is(float64(runtime.NumGoroutine()))},
	}
	return append(own, s.Gauges...)
}

func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// text returns the page of all figures.
func (c *Counts) text(gauges []Gauge) []byte {
	var b bytes.Buffer
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	c.mu.Lock()
	head("cardea_decisions_total", "counter", "Answers to events, by effect, harness and who decided.")
	for _, s := range slices.SortedFunc(maps.Keys(c.decisions), func(a, b series) int {
		return strings.Compare(a.effect+"\x00"+a.harness+"\x00"+a.decider, b.effect+"\x00"+b.harness+"\x00"+b.decider)
	}) {
		fmt.Fprintf(&b, "cardea_decisions_total{effect=%s,harness=%s,decider=%s} %d\n", label(s.effect), label(s.harness), label(s.decider), c.decisions[s])
	}
	head("cardea_left_total", "counter", "Calls that the daemon left to a process of their own, by reason.")
	for _, why := range slices.Sorted(maps.Keys(c.left)) {
		fmt.Fprintf(&b, "cardea_left_total{reason=%s} %d\n", label(why), c.left[why])
	}
	head("cardea_http_refused_total", "counter", "Requests over HTTP that were refused, by status.")
	for _, status := range slices.Sorted(maps.Keys(c.refusals)) {
		fmt.Fprintf(&b, "cardea_http_refused_total{status=\"%d\"} %d\n", status, c.refusals[status])
	}
	head("cardea_http_started_total", "counter", "Processes of cardea that were started for hooks over HTTP.")
	fmt.Fprintf(&b, "cardea_http_started_total %d\n", c.starts)
	head("cardea_decision_seconds", "histogram", "How long decisions took.")
	c.decided.write(&b, "cardea_decision_seconds")
	head("cardea_http_hook_seconds", "histogram", "How long hooks over HTTP took, from the head of the request to the answer.")
	c.answered.write(&b, "cardea_http_hook_seconds")
	c.mu.Unlock()
	for _, g := range gauges {
		if v, ok := g.Read(); ok {
			kind := "gauge"
			if strings.HasSuffix(g.Name, "_total") {
				kind = "counter"
			}
			head(g.Name, kind, g.Help)
			fmt.Fprintf(&b, "%s %v\n", g.Name, v)
		}
	}
	return b.Bytes()
}

func (h *histogram) write(b *bytes.Buffer, name string) {
	sum := uint64(0)
	for i, bound := range bounds {
		sum += h.classes[i]
		fmt.Fprintf(b, "%s_bucket{le=\"%v\"} %d\n", name, bound, sum)
	}
	fmt.Fprintf(b, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %v\n%s_count %d\n", name, h.count, name, h.sum, name, h.count)
}

// label returns a label's value, quoted and escaped as the format requires.
func label(s string) string {
	s = hook.Plain(s[:min(len(s), 60)])
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "?")) + `"`
}
