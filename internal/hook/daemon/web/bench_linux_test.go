package web_test

import (
	"net/http"
	"testing"
)

// BenchmarkHealthz measures a request without a decision: the part of an HTTP decision that
// is not the gate's. One session asks, and 64 at a time.
func BenchmarkHealthz(b *testing.B) {
	s := newFixture(b)
	s.daemon()
	request := asked{Method: http.MethodGet, URL: s.url("/healthz")}
	ask := func(b *testing.B, client *http.Client) {
		if got := request.send(client); got.Status != http.StatusOK {
			b.Errorf("%+v", got)
		}
	}
	b.Run("1", func(b *testing.B) {
		for b.Loop() {
			ask(b, http.DefaultClient)
		}
	})
	b.Run("64", func(b *testing.B) {
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			client := &http.Client{Transport: &http.Transport{}}
			for pb.Next() {
				ask(b, client)
			}
		})
	})
}
