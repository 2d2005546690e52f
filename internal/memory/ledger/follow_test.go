package ledger

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

// inputs returns the commands of lines, in their order.
func inputs(lines []Line) string {
	var out []string
	for _, l := range lines {
		text := l.Entry.Input.Text.String()
		if !l.Genuine {
			text += "?"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func (b *bench) follow(q Query, want string) *Follower {
	b.t.Helper()
	f, first, err := b.Follow(q)
	if got := inputs(first); err != nil || got != want {
		b.t.Fatalf("begins with %q, want %q (%v)", got, want, err)
	}
	return f
}

func (b *bench) next(f *Follower, want string) {
	b.t.Helper()
	lines, more, err := f.Next()
	if got := inputs(lines); err != nil || more || got != want {
		b.t.Errorf("came %q, want %q (more %t, %v)", got, want, more, err)
	}
}

func (b *bench) write(text string) {
	b.t.Helper()
	if err := b.Append(b.entry(text)); err != nil {
		b.t.Fatal(err)
	}
	b.now = b.now.Add(time.Millisecond)
}

func TestFollow(t *testing.T) {
	b := start(t)
	empty := b.follow(Query{}, "")
	b.write("a")
	b.write("b")
	b.next(empty, "a b")
	f := b.follow(Query{Limit: 1}, "b")
	b.next(f, "")
	b.write("c")
	b.tomorrow()
	b.write("d")
	lines, more, err := f.Next()
	if got := inputs(lines); err != nil || !more || got != "c" {
		t.Errorf("%q %t %v", got, more, err)
	}
	b.next(f, "d")
	b.next(f, "")
	only := b.follow(Query{Effects: []cardea.Effect{cardea.Allow}}, "")
	b.write("e")
	b.next(only, "")
}

// An entry that waits in the spool is given once, though it is found there first and in
// the day's file later.
func TestFollowSpooled(t *testing.T) {
	b := start(t)
	b.write("a")
	head, _, err := state.Open(b.path(headName), os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if err := state.Lock(head, 0); err != nil {
		t.Fatal(err)
	}
	b.write("b") // goes to the spool
	f, first, err := b.Follow(Query{})
	if err != nil || len(first) != 2 || !strings.Contains(inputs(first), "b") {
		t.Fatalf("%q %v", inputs(first), err)
	}
	if err := head.Close(); err != nil {
		t.Fatal(err)
	}
	b.write("c")
	b.next(f, "c")
}

// What others write into the ledger's folder neither hides what comes, nor passes for it.
func TestFollowForged(t *testing.T) {
	b := start(t)
	b.write("a")
	b.put("2999-01-01"+dayEnd, []byte("{}\n"))
	f, first, err := b.Follow(Query{})
	if err == nil || inputs(first) != "a" {
		t.Errorf("begins with %q, %v", inputs(first), err)
	}
	b.write("b")
	b.next(f, "b")
	day := b.now.Format(dayForm) + dayEnd
	b.put(day, append(b.read(day), []byte(strings.Replace(b.lines(b.now.Format(dayForm))[0], `"text":"a"`, `"text":"z"`, 1)+"no json\n")...))
	lines, _, err := f.Next()
	if err == nil || !strings.Contains(err.Error(), "1 lines") || inputs(lines) != "z?" {
		t.Errorf("%q %v", inputs(lines), err)
	}
	b.put(day, b.read(day)[:10])
	if _, _, err := f.Next(); err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Errorf("a shorter file: %v", err)
	}
	b.put(day, append(b.read(day), []byte(strings.Repeat("x", followPiece+2))...))
	for range 3 {
		if lines, _, _ := f.Next(); len(lines) > 0 {
			t.Errorf("a line without end: %q", inputs(lines))
		}
	}
}

// A line is given when it is whole.
func TestFollowHalfALine(t *testing.T) {
	b := start(t)
	b.write("a")
	day := b.now.Format(dayForm)
	b.write("b")
	lines := b.lines(day)
	b.put(day+dayEnd, []byte(lines[0]+lines[1][:20]))
	f, first, err := b.Follow(Query{})
	if err != nil || inputs(first) != "a" {
		t.Fatalf("%q %v", inputs(first), err)
	}
	b.next(f, "")
	b.put(day+dayEnd, []byte(lines[0]+lines[1]))
	b.next(f, "b")
}

// A slow caller gets all entries, in pieces.
func TestFollowSlowly(t *testing.T) {
	b := start(t)
	f := b.follow(Query{}, "")
	const n = 3000
	long := strings.Repeat("x", 300)
	for i := range n {
		b.write(fmt.Sprintf("echo %d %s", i, long))
	}
	seen, pieces := 0, 0
	for {
		lines, more, err := f.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if want := fmt.Sprintf("echo %d %s", seen, long); l.Entry.Input.Text.String() != want {
				t.Fatalf("number %d is %q", seen, l.Entry.Input.Text)
			}
			seen++
		}
		if pieces++; !more {
			break
		}
	}
	if seen != n || pieces < 2 {
		t.Errorf("%d entries in %d pieces", seen, pieces)
	}
}
