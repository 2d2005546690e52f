package redact

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRedact checks any text: there is no panic, and findings are in order, inside the
// text and removed from it. A second redaction changes nothing, and a secret next to the
// text is removed.
func FuzzRedact(f *testing.F) {
	for _, p := range readPlanted(f)[:40] {
		f.Add(p.text)
	}
	for _, line := range everyday() {
		f.Add(line)
	}
	f.Add("<REDACTED password, 3 characters> -----BEGIN PRIVATE KEY----- Y3VybCAtdSBhOmI= %41%42 \\u0041")
	r := New()
	secret := rev("j9i8h7g6f5e4d3c2b1a0j9i8h7g6f5e4d3c2_phg")
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, found := range r.Find(s) {
			if found.Start < at || found.End <= found.Start || found.End > len(s) || found.Kind == "" {
				t.Fatalf("%+v in %q", found, s)
			}
			at = found.End
		}
		once := r.Text(s).String()
		if twice := r.Text(once).String(); twice != once {
			t.Fatalf("%q becomes %q", once, twice)
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Fatalf("%q is cut inside of a character: %q", s, once)
		}
		for _, beside := range []string{s + " " + secret, secret + " " + s} {
			if out := r.Text(beside).String(); strings.Contains(out, secret) {
				t.Fatalf("the secret stays: %q", out)
			}
		}
	})
}
