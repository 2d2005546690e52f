package ledger

import (
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// BenchmarkCheckLedgerAppend measures the cost of a line in a process that has written others.
func BenchmarkCheckLedgerAppend(b *testing.B) {
	l := start(b, func(o *Options) { o.Now = time.Now; o.MaxMB = 0 })
	e := l.entry("git add . && git commit -m 'a message'")
	for b.Loop() {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckLedgerNewEntry is the entry alone, redaction included.
func BenchmarkCheckLedgerNewEntry(b *testing.B) {
	ev, v := command("git add . && git commit -m 'a message'", cardea.Deny)
	r := redact.New()
	for b.Loop() {
		NewEntry(ev, v, Circumstances{Redactor: r, Key: testKey(), Now: time.Now(), Version: "v1"})
	}
}

// BenchmarkLedgerVerify reads and checks a thousand lines.
func BenchmarkLedgerVerify(b *testing.B) {
	l := start(b)
	l.add(1000)
	for b.Loop() {
		if r := l.verify(); !r.Intact() {
			b.Fatal(r.Diagnostics)
		}
	}
}

// BenchmarkLedgerSearch looks for nothing in a thousand lines.
func BenchmarkLedgerSearch(b *testing.B) {
	l := start(b)
	l.add(1000)
	for b.Loop() {
		for range l.Search(Query{Rule: "none"}) {
			b.Fatal("found")
		}
	}
}

// BenchmarkLedgerRecords reads a thousand lines for counting.
func BenchmarkLedgerRecords(b *testing.B) {
	l := start(b)
	l.add(1000)
	for b.Loop() {
		n := 0
		for _, err := range l.Records(Query{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}
