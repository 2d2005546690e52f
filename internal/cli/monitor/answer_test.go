package monitor

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
)

// waiting returns n waiting calls, numbered from from.
func waiting(from, n int) (out Waiting) {
	for i := range n {
		out = append(out, queue.Entry{ID: int64(from + i), State: queue.Pending, Tool: "Bash", Subject: text(fmt.Sprintf("make n%d.", from+i)), Session: text("s1"),
			Project: text("/home/liam/app"), Deadline: noon.Add(time.Minute)})
	}
	return out
}

func atQueue(t *testing.T, n int) *screen {
	s := start(t, 80, 24)
	s.send(waiting(1, n))
	s.keys("2")
	return s
}

// answered checks the answers so far, without the held ones.
func (s *screen) answered(want ...Do) {
	s.t.Helper()
	got := slices.DeleteFunc(slices.Clone(s.did), func(d Do) bool { return d.Kind != Answer })
	if !slices.Equal(got, want) {
		s.t.Errorf("answered %v, want %v", got, want)
	}
}

func allow(id int64) Do { return Do{Kind: Answer, ID: id, Effect: cardea.Allow} }

func later(d time.Duration) Time { return Time(noon.Add(d)) }

func TestApprove(t *testing.T) {
	s := atQueue(t, 3)
	s.shows(">2 Queue 3", "1m0s", "make n1.", "a allow  d deny")
	s.keys("j")
	if do := s.keys("a"); len(do) != 1 || do[0] != (Do{Kind: Check, ID: 2}) {
		t.Fatalf("%v", do)
	}
	s.keys("k enter") // before the answer comes
	s.send(Challenge{ID: 2, Code: "k"})
	s.shows("Call 2 waits for you", "all of make n2.", "type k to allow call 2")
	s.keys("pgdown up")
	s.shows("type k to allow call 2")
	s.keys("k")
	s.shows("call 2: approved in a moment; u takes it back", "(approved) ")
	s.send(later(2 * time.Second))
	s.answered()
	s.send(later(undoTime))
	s.answered(allow(2))
	s.send(later(time.Minute))
	s.answered(allow(2))
}

// A wrong code or another key answers nothing.
func TestNotApproved(t *testing.T) {
	s := atQueue(t, 3)
	for _, keys := range []string{"x", "esc", "enter", "q", "a", "K", "space", "y"} {
		s.keys("a")
		s.send(Challenge{ID: 1, Code: "k"})
		s.keys(keys)
		s.shows("call 1 was not answered")
	}
	s.keys("a")
	s.send(Challenge{ID: 1, Err: errors.New("only a person may do this: an agent started\x1b[2J this")})
	s.shows(`only a person may do this: an agent started\u001b[2J this`)
	s.keys("k")
	s.send(Challenge{ID: 9, Code: "k"}, Challenge{ID: 1})
	s.keys("k")
	s.send(later(time.Hour))
	s.answered()
}

// A longer code is typed letter by letter. Pasted text is no answer.
func TestCode(t *testing.T) {
	s := atQueue(t, 1)
	s.send(Challenge{ID: 1, Code: "abc"}, Pasted("abc"))
	s.keys("a b")
	s.shows("type abc to allow call 1: ab")
	s.keys("x")
	s.send(Challenge{ID: 1, Code: "abc"})
	s.keys("a b c")
	s.send(later(time.Hour))
	s.answered(allow(1))
}

func TestDeny(t *testing.T) {
	s := atQueue(t, 3)
	s.keys("d n o space w backspace")
	s.shows("deny 1, message: no ")
	s.send(Pasted("use\nthe other\x07"))
	s.keys("enter")
	s.shows("call 1: denied in a moment")
	s.keys("d") // it is answered already
	s.shows("call 1 is answered already")
	s.keys("j d esc")
	s.shows("call 2 was not answered")
	s.keys("q")
	s.answered(Do{Kind: Answer, ID: 1, Effect: cardea.Deny, Message: `no use\nthe other\u0007`})
	if last := s.did[len(s.did)-1]; last.Kind != Quit {
		t.Errorf("%v", s.did)
	}
}

func TestUndo(t *testing.T) {
	s := atQueue(t, 3)
	s.keys("u")
	s.shows("nothing was answered here")
	s.keys("d enter j d enter u")
	s.shows("the answer to call 2 is taken back; it still waits")
	s.send(later(undoTime))
	s.answered(Do{Kind: Answer, ID: 1, Effect: cardea.Deny})
	if do := s.keys("u"); len(do) != 1 || do[0] != (Do{Kind: Undo, ID: 1}) {
		t.Errorf("%v", do)
	}
}

// The first answer wins: the state of a call that was answered in another place is dropped,
// on every tab.
func TestAnsweredElsewhere(t *testing.T) {
	s := atQueue(t, 4)
	s.keys("d enter j")
	s.selects("n2.")
	s.send(Challenge{ID: 2, Code: "k"})
	s.send(waiting(3, 2)) // 1 and 2 are gone
	s.shows("was answered elsewhere")
	s.keys("k")
	s.send(Challenge{ID: 3, Code: "k"})
	s.keys("k")
	s.send(later(time.Minute))
	s.answered(allow(3))
	s.send(waiting(4, 1))
	s.keys("d")
	s.send(Waiting{})
	s.keys("enter")
	s.send(later(time.Hour))
	s.answered(allow(3))
	s.shows("Nothing waits for you.")
}

// The person answers the call that they see: it stays selected while others come and go.
func TestTheCallThatIsSeen(t *testing.T) {
	s := atQueue(t, 50)
	s.keys("pgdown j")
	s.selects("n22.")
	s.send(append(waiting(10, 40), waiting(100, 1000)...))
	s.selects("n22.")
	if do := s.keys("a"); do[0].ID != 22 {
		t.Errorf("%v", do)
	}
	s.keys("enter")
	s.send(waiting(23, 5)) // the open call goes away, and its keys with it
	s.shows("call 22 was answered elsewhere", "a allow")
	s.hides("Call 22")
	s.send(waiting(30, 5)) // it goes away before the code is shown
	s.send(Challenge{ID: 22, Code: "k"})
	s.shows("call 22 was not answered")
	s.keys("k")
	s.send(later(time.Hour))
	s.answered()
}

// An answer is sent before the call's deadline.
func TestShortOfTime(t *testing.T) {
	s := atQueue(t, 1)
	s.send(later(57500 * time.Millisecond))
	s.send(Challenge{ID: 1, Code: "k"})
	s.keys("k")
	s.send(later(58 * time.Second))
	s.answered(allow(1))
}

func TestQueueFilterAndPages(t *testing.T) {
	s := atQueue(t, 1000)
	s.keys("G")
	s.selects("n1000.")
	s.keys("pgup")
	s.selects("n980.")
	s.keys("/ n 7 7 . enter")
	s.selects("n77.")
	s.send(Challenge{ID: 77, Code: "k"})
	s.keys("k esc")
	s.send(later(undoTime))
	s.answered(allow(77))
}

// A new call above the selected one does not replace it.
func TestSelectionStays(t *testing.T) {
	s := atQueue(t, 1)
	s.send(append(waiting(2, 1), waiting(1, 1)...))
	if do := s.keys("a"); len(do) != 1 || do[0] != (Do{Kind: Check, ID: 1}) {
		t.Errorf("%v", do)
	}
}
