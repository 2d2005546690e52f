package near_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/decide/near"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/shape"
)

// BenchmarkCheckNear decides a call by a similar lesson of many. It measures keys, index,
// analysis of the lesson's call, and comparison of shapes.
func BenchmarkCheckNear(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d, ev := many(b, n)
			for b.Loop() {
				if got, err := d.Decide(context.Background(), ev); err != nil || len(got) == 0 || got[0].Effect != cardea.Allow {
					b.Fatal(got, err)
				}
			}
		})
	}
}

// many returns a decider with n lessons in a process that stays, and a similar call.
func many(t testing.TB, n int) (near.Decider, *cardea.Event) {
	b := newBench(t)
	first := b.event("", "pytest --cov tests/auth/test_login.py")
	drafts, err := b.keyer.DraftsOf(first, cardea.Allow)
	if err != nil {
		t.Fatal(err)
	}
	forms := []string{
		"git add src/m%d/f%d.ts",
		"go test ./pkg/p%d/q%d",
		"npx prettier --write src/c%d/x%d.ts",
		"cargo test -p crate%d%d",
		"git commit -m 'change %d of %d'",
		"kubectl get pods -n ns%d-%d",
		"make target%d%d",
		"docker compose up -d svc%d-%d",
		"curl -sS https://h%d.example.com/%d",
		"node scripts/s%d/t%d.js",
	}
	all := drafts
	for i := range n - 1 {
		d := drafts[0]
		d.Subject = redact.New().Text(fmt.Sprintf(forms[i%len(forms)], i%97, i))
		all = append(all, d)
	}
	for i := range all {
		all[i].By, all[i].When, all[i].Who = lesson.ByPerson, today, redact.New().Text("liam")
	}
	w, err := lesson.NewWriter(b.places[1], words.Section())
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(all); from += 10_000 {
		if err := w.Teach(all[from:min(from+10_000, len(all))]...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Build(time.Minute); err != nil {
		t.Fatal(err)
	}
	store := lesson.Open(b.places[1])
	t.Cleanup(store.Close)
	source := []lesson.Source{{Store: store, Keyer: b.keyer, Allows: true, Trusted: true}}
	d := near.New(near.Options{Sources: func(*cardea.Event) ([]lesson.Source, cardea.Issues) { return source, nil }, Finders: []near.Finder{words},
		Analyse: b.analyse, Now: today.Add(time.Hour), System: shape.Lookups{Resolve: new(paths.Links).Resolve}})
	return d, b.event("", "pytest --cov tests/auth/test_token.py")
}
