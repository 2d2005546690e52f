package redact

import "testing"

// BenchmarkCheckRedact measures a typical line in a process that redacted before
// (budget: under 10 µs). BenchmarkCheckRedactCold measures one in a new process: every
// expression for a keyword of the line is compiled (under 0.5 ms).
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

// BenchmarkCheckRedactSecret measures a line with a secret.
func BenchmarkCheckRedactSecret(b *testing.B) {
	r, line := New(), `curl -H "Authorization: Bearer abcdef0123456789abcdef" https://api.example.com/v1/items`
	for b.Loop() {
		r.Text(line)
	}
}
