package redact

import "testing"

// BenchmarkCheckRedact is a typical line in a process that redacted before
// (budget: under 10 µs), and BenchmarkCheckRedactCold in one that
// did not: every expression that the line wakes is compiled (under 0.5 ms).
func BenchmarkCheckRedact(b *testing.B) {
	lines, r := everyday(), New()
	for _, line := range lines {
		r.Text(line)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Text(lines[i%len(lines)])
	}
}

func BenchmarkCheckRedactCold(b *testing.B) {
	lines := everyday()
	for i := 0; b.Loop(); i++ {
		New().Text(lines[i%len(lines)])
	}
}

// BenchmarkCheckRedactSecret has something to take out.
func BenchmarkCheckRedactSecret(b *testing.B) {
	r, line := New(), `curl -H "Authorization: Bearer abcdef0123456789abcdef" https://api.example.com/v1/items`
	for b.Loop() {
		r.Text(line)
	}
}
