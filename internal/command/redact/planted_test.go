package redact

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// planted is a secret that gitleaks finds in a text, made by gen/sample.go.
type planted struct{ rule, text, secret string }

func readPlanted(t testing.TB) []planted {
	t.Helper()
	data, err := os.ReadFile("testdata/planted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []planted
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		out = append(out, planted{f[0], shown(t, f[1]), shown(t, f[2])})
	}
	return out
}

// shown decodes a text of the file, which is encoded so that scanners do not report it
// as a leak.
func shown(t testing.TB, hidden string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(hidden)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(b)
	return string(b)
}

func percentEncoded(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func jsonEncoded(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\u%04x`, s[i])
	}
	return b.String()
}

func TestEveryRuleOfGitleaks(t *testing.T) {
	all := readPlanted(t)
	seen := map[string]bool{}
	r := New()
	for _, p := range all {
		seen[p.rule] = true
		fuel := maxFuel
		fired := slices.ContainsFunc(r.deep(p.text, &fuel, 0), func(f found) bool { return kind(f.rule) == p.rule })
		if !fired {
			t.Errorf("%s does not fire on %q", p.rule, p.text)
		}
		if out := r.Text(p.text).String(); strings.Contains(out, p.secret) {
			t.Errorf("%s: %q stays in %q", p.rule, p.secret, out)
		}
	}
	for i := range rules {
		if rules[i].id == "private-key-block" {
			break // the remaining rules are our own
		}
		if !seen[rules[i].id] {
			t.Errorf("no secret is planted for %s", rules[i].id)
		}
	}
}

func TestEncodedSecrets(t *testing.T) {
	encodings := map[string]func(string) string{
		"base64":         func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 raw url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"base64 twice": func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
		},
		"percent":           percentEncoded,
		"json":              jsonEncoded,
		"percent in base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(percentEncoded(s))) },
		"hex":               func(s string) string { return fmt.Sprintf("%x", s) },
	}
	r := New()
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			for _, p := range readPlanted(t) {
				if all := encode(p.text); strings.Contains(r.Text("x "+all+" y").String(), encode(p.secret)) || len(r.Find(all)) == 0 {
					t.Errorf("%s: %q is not found as a whole: %s", p.rule, p.text, r.Text("x "+all+" y"))
				}
				_, after, _ := strings.Cut(p.text, p.secret)
				if len(p.secret) < 12 || after != "" && isBlob(after[0]) {
					continue // too short to differ from a word, or includes the text after it
				}
				in := strings.Replace(p.text, p.secret, encode(p.secret), 1)
				if out := r.Text(in).String(); strings.Contains(out, encode(p.secret)) {
					t.Errorf("%s: the secret of %q is not found encoded: %s", p.rule, p.text, out)
				}
			}
		})
	}
}
