package ledger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev"
)

// TestScanMissesNothing: over lines of all kinds, the bytes of a line turn away none that
// answers, and the order is that of reading the file back line by line.
func TestScanMissesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var file bytes.Buffer
	for i := range 4000 {
		body := fmt.Sprintf(`{"v":1,"id":"1m7wd7tkv%07d","time":"2026-11-20T%02d:00:00.000000Z","harness":"h","session":"%s","event":"e","tool":"%s","cwd":"%s","project":"/p",`+
			`"input":{"text":"%s","bytes":1,"digest":""},"effect":"%s","by":"%s","reason":"%s","parts":[],"opinions":[{"decider":"%s",`+
			`"rule":"%s","effect":"deny","part":null,"scope":"user"}],"cardea":"v","micros":1}`,
			i,
			r.IntN(24),
			pick("s-1", "s-2", "sess\\u0069on"),
			pick("Bash", "bash", "B\\u0061sh", "Read"),
			pick("/a/b", "\\/a\\/b"),
			pick("git push", "GIT PUSH", "g\\u0069t push", "naïve", "ta\\\"sk", "ta\u212aen", "l\u0130st", strings.Repeat("x", 300)),
			pick("deny", "ask", "allow"), pick("rules", "git-push"), pick("", "because"), pick("rules", "readonly"), pick("git-push", "a:b", "g\\u0069t-push"))
		switch r.IntN(40) {
		case 0:
			body = body[:len(body)/2]
		case 1:
			body = strings.Repeat("y", maxLine+r.IntN(3)-1)
		case 2:
			body = ""
		}
		file.WriteString(body + "\n")
	}
	file.WriteString(`{"v":1,"id":"no end`)
	var buffers sync.Pool
	at := func(hour int) time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC) }
	for _, q := range []Query{
		{}, {Session: "s-1"}, {Session: "session"}, {Tool: "BASH"}, {Text: "git PUSH"}, {Text: "NAÏVE"}, {Text: `ta"sk`}, {Text: "taken"}, {Text: "list"}, {Text: "/A/b"}, {Text: "none of it"},
		{Rule: "git-push"}, {Rule: "rules:git-push"}, {Rule: "a:b"}, {Decider: "readonly"}, {Since: at(12)}, {Since: at(12), Until: at(13)},
		{Effects: []cardea.Effect{cardea.Deny, cardea.Ask}}, {id: "1m7wd7tkv0000777"}, {Session: "s-2", Text: "push", Since: at(20), Tool: "bash"},
	} {
		var want, got []string
		if err := readBack(bytes.NewReader(file.Bytes()), int64(file.Len()), func(line []byte) bool {
			if w, err := parse(line); err == nil && q.matches(&w) {
				want = append(want, w.ID)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if err := scan(bytes.NewReader(file.Bytes()), int64(file.Len()), &q, &buffers, func(c *candidate) bool {
			if !c.wrong && q.matches(&c.form) {
				got = append(got, c.form.ID)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%+v: %d lines, want %d", q, len(got), len(want))
		}
	}
	n := 0
	if err := scan(bytes.NewReader(file.Bytes()), int64(file.Len()), &Query{}, &buffers, func(*candidate) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("it went on: %d, %v", n, err)
	}
	if err := scan(bytes.NewReader(nil), 10, &Query{}, &buffers, func(*candidate) bool { return true }); err == nil {
		t.Error("a file that is shorter than it was is no mistake")
	}
}
