package lesson

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"cardea.dev"
)

// write writes so many allows of a user's folder, as a person's own tool might.
func fill(tb testing.TB, p ScopeFolder, n int) {
	tb.Helper()
	var b strings.Builder
	l := (&Draft{Effect: cardea.Allow, By: ByPerson, When: when}).line()
	l.Tool, l.Role, l.Dir, l.Who, l.Reason = "Bash", "tester", ".", "liam", "test run"
	for i := range n {
		l.Subject = fmt.Sprintf("pytest --cov tests/module_%07d/test_it.py -k login", i)
		b.WriteString(l.text() + "\n")
	}
	put(tb, file(p, "allow.jsonl"), b.String())
}

func benched(b *testing.B, n int) ScopeFolder {
	p := here(b)
	p.Shared, p.Scope = false, cardea.ScopeUser
	fill(b, p, n)
	if _, err := writer(b, p).Build(time.Minute); err != nil {
		b.Fatal(err)
	}
	return p
}

const benchSubject = "pytest --cov tests/module_%07d/test_it.py -k login"

// The budget for a lesson that is found, or not, in memory is 1 µs.
func BenchmarkLookupWarm(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		p := benched(b, n)
		for name, subject := range map[string]string{"found": fmt.Sprintf(benchSubject, n/3), "none": "make none"} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				s := Open(p)
				defer s.Close()
				if got := len(s.Lookup(subject)); (got == 1) != (name == "found") {
					b.Fatal(got)
				}
				for b.Loop() {
					s.Lookup(subject)
				}
			})
		}
	}
}

// What a new process does: open the index, find one lesson, close it.
func BenchmarkLookupCold(b *testing.B) {
	for _, n := range []int{100, 1000, 100_000, 1_000_000} {
		p := benched(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s := Open(p)
				if len(s.Lookup(fmt.Sprintf(benchSubject, n/3))) != 1 {
					b.Fatal("not found")
				}
				s.Close()
			}
		})
	}
}

// A million lessons are read and indexed in less than two seconds and 500 MB.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		p := here(b)
		p.Shared, p.Scope = false, cardea.ScopeUser
		fill(b, p, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := writer(b, p)
			for b.Loop() {
				if built, err := w.Build(time.Minute); err != nil || built.Lessons != n {
					b.Fatal(built, err)
				}
			}
			b.ReportMetric(peak(b), "MB-peak")
		})
	}
}

// peak returns the most memory that the process had, in megabytes.
func peak(b *testing.B) float64 {
	if runtime.GOOS != "linux" {
		return 0
	}
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			var kb float64
			_, _ = fmt.Sscan(f[1], &kb)
			return kb / 1024
		}
	}
	return 0
}

func BenchmarkParseLine(b *testing.B) {
	for b.Loop() {
		if _, err := ParseLine(sample); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTeach(b *testing.B) {
	p := benched(b, 100_000)
	i := 0
	for b.Loop() {
		teach(b, p, draft(cardea.Allow, fmt.Sprint("more ", i)))
		i++
	}
}
