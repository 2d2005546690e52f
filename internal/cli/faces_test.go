package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/cli/monitor"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/ledger"
)

// facesTest is a queue with many entries, and the winner of each.
type facesTest struct {
	t         *testing.T
	registrar *fixture
	queue     *store.Store
	mu        sync.Mutex
	won       map[int64][]string
}

func (f *facesTest) wins(id int64, face string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.won[id] = append(f.won[id], face)
}

// opened returns another handle of the queue, as another process has it.
func (f *facesTest) opened() *store.Store {
	f.t.Helper()
	s, err := store.Open(f.registrar.state(), time.Now)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = s.Close() })
	return s
}

// Three faces answer waiting calls at once: the commands, the monitor, and a program that
// uses the queue like the API. Each call is answered once, its waiter gets the answer, and
// none is lost.
func TestThreeFaces(t *testing.T) {
	const entries, waiters = 1000, 60
	f := &facesTest{t: t, registrar: newFixture(t), won: map[int64][]string{}}
	f.registrar.settings("human: {mode: queue}\n")
	f.queue = f.opened()
	ctx, r := t.Context(), redact.New()
	self, err := person.This()
	if err != nil {
		t.Skip(err)
	}
	var all []queue.Entry
	for i := range entries {
		e, err := f.queue.Add(ctx, queue.Entry{
			Digest:  fmt.Sprint(i),
			Harness: "claude-code",
			Session: r.Text(fmt.Sprintf("s%d", i/10)),
			Tool:    "Bash",
			Subject: r.Text(fmt.Sprintf("make n%d", i)),
			Project: r.Text(f.registrar.project),
			Effect:  cardea.Ask, By: "rules:r", Waiter: self, Created: time.Now(), Deadline: time.Now().Add(limit.Setting)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	var faces, waits sync.WaitGroup
	heard := make([]queue.Resolution, waiters)
	for i := range waiters {
		waits.Go(func() {
			a, err := f.queue.Wait(ctx, all[i])
			if err != nil {
				t.Errorf("who waits for %d: %v", all[i].ID, err)
			}
			heard[i] = a
		})
	}
	faces.Go(func() { f.byCommands(all) })
	faces.Go(f.byMonitor)
	faces.Go(func() { f.byProgram(ctx, all) })
	faces.Wait()
	waits.Wait()
	f.holds(all, heard)
}

// holds checks the result.
func (f *facesTest) holds(all []queue.Entry, heard []queue.Resolution) {
	t, count := f.t, map[string]int{}
	for i, e := range all {
		now, err := f.queue.Entry(t.Context(), e.ID)
		winners := f.won[e.ID]
		if err != nil || now.State != queue.Answered || len(winners) != 1 {
			t.Errorf("call %d: %s, answered by %v (%v)", e.ID, now.State, winners, err)
			continue
		}
		count[winners[0]]++
		if want := now.Answer.Effect; i < len(heard) && heard[i].Effect != want {
			t.Errorf("call %d was answered %s, and %s was heard", e.ID, want, heard[i].Effect)
		}
		if byProgram := winners[0] == "program"; byProgram != (now.Answer.Effect == cardea.Allow) {
			t.Errorf("call %d: %s won, and the answer is %s", e.ID, winners[0], now.Answer.Effect)
		}
	}
	if left, err := f.queue.Pending(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%d wait still (%v)", len(left), err)
	}
	t.Log("won:", count)
	if len(count) != 3 || slices.Min(slices.Collect(maps.Values(count))) < 10 {
		t.Errorf("not all faces took part: %v", count)
	}
}

// byCommands runs "cardea deny" for each.
func (f *facesTest) byCommands(all []queue.Entry) {
	for _, i := range rand.Perm(len(all)) {
		id := strconv.FormatInt(all[i].ID, 10)
		switch out, errs, code := f.registrar.sits("a\n", "deny", id, "--once"); {
		case code == exitOK && strings.Contains(out, id+"  denied by"):
			f.wins(all[i].ID, "commands")
		case !strings.Contains(errs, "was answered"):
			f.t.Errorf("deny %s: exit %d, %s%s", id, code, out, errs)
		}
	}
}

// byProgram answers through the queue's own interface.
func (f *facesTest) byProgram(ctx context.Context, all []queue.Entry) {
	var q queue.Queue = f.opened()
	for _, i := range rand.Perm(len(all)) {
		won, err := q.Answer(ctx, all[i].ID, queue.Resolution{Effect: cardea.Allow, Who: redact.New().Text("liam"), Via: "api"})
		if err != nil {
			f.t.Errorf("answer %d: %v", all[i].ID, err)
		}
		if won {
			f.wins(all[i].ID, "program")
		}
		time.Sleep(time.Millisecond) // a person is slower
	}
}

// byMonitor presses keys until nothing waits.
func (f *facesTest) byMonitor() {
	var out, errs strings.Builder
	p := f.registrar.process(nil, &out, &errs)
	p.Person, p.Code = func() error { return nil }, func() string { return "abc234" }
	d, err := registrarHere(p)
	if err != nil {
		f.t.Error(err)
		return
	}
	feed := &dataSource{process: p, registrar: d}
	defer feed.close()
	m := monitor.Model{Describe: feed.describe}
	m, _ = m.Update(monitor.Size{Width: 80, Height: 24})
	m, _ = m.Update(monitor.Key("2"))
	now := time.Now()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		var n news
		if err := feed.look(&n); err != nil {
			f.t.Error(err)
		}
		if n.hasQueue {
			m, _ = m.Update(monitor.Waiting(n.waiting))
			if len(n.waiting) == 0 {
				return
			}
		}
		for _, key := range []string{"d", "enter", "j"} {
			m, _ = m.Update(monitor.Key(key))
		}
		now = now.Add(time.Minute)
		var do []monitor.Do
		m, do = m.Update(monitor.Time(now))
		for _, x := range do {
			if told := feed.answer(x); strings.Contains(told, "denied by") && !strings.Contains(told, "answered already") {
				f.wins(x.ID, "monitor")
			}
		}
	}
	f.t.Error("the monitor does not come to an end")
}

// A slow reader of the monitor's lines, or one that pauses, gets all of them once and in
// order, and no hook waits for it.
func TestSlowReaderOfTheMonitor(t *testing.T) {
	d := newFixture(t)
	const n = 300
	hook := func(i int) {
		if _, errs, code := d.run(d.call("PreToolUse", "default", fmt.Sprintf("echo n%d.", i)), "check", "--harness", "claude-code"); code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	hook(0)
	read, write := io.Pipe() // without a buffer: a line is written when it is read
	ctx, stop := context.WithCancel(t.Context())
	p := d.process(strings.NewReader(""), write, io.Discard)
	here, err := registrarHere(p)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledgerOf(p, here.Place, here.Loaded.Settings.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	follower, first, err := l.Follow(ledger.Query{})
	if err != nil || len(first) != 1 {
		t.Fatalf("%d lines, %v", len(first), err)
	}
	f := &dataSource{process: p, registrar: here, follower: follower}
	ended := make(chan error, 1)
	go func() {
		ended <- f.lines(ctx, first, true)
		f.close()
	}()
	for i := 1; i < n; i++ {
		hook(i)
	}
	in := bufio.NewScanner(read)
	for i := range n {
		if !in.Scan() || !strings.Contains(in.Text(), fmt.Sprintf(`"echo n%d."`, i)) {
			t.Fatalf("number %d is %s", i, in.Text())
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The monitor takes back the answer to a ticket if it was not used, and says if it was.
// Under an agent it does neither.
func TestUndoInTheMonitor(t *testing.T) {
	f := &facesTest{t: t, registrar: newFixture(t)}
	f.registrar.settings("human: {mode: queue}\n")
	f.queue = f.opened()
	r := redact.New()
	e, err := f.queue.Add(t.Context(), queue.Entry{Digest: "d", Tool: "Bash", Subject: r.Text("make deploy"), Project: r.Text(f.registrar.project), Effect: cardea.Ask,
		Ticket: true, Validity: time.Minute, Created: time.Now(), Deadline: time.Now().Add(limit.Setting)})
	if err != nil {
		t.Fatal(err)
	}
	p := f.registrar.process(nil, io.Discard, io.Discard)
	attending := error(nil)
	p.Person, p.Code = func() error { return attending }, func() string { return "abc234" }
	d, err := registrarHere(p)
	if err != nil {
		t.Fatal(err)
	}
	x := &dataSource{process: p, registrar: d}
	defer x.close()
	says := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	state := func() queue.Entry {
		t.Helper()
		now, err := f.queue.Entry(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	allow := monitor.Do{Kind: monitor.Answer, ID: e.ID, Effect: cardea.Allow}
	attending = errors.New("an agent is at work here")
	says(x.answer(allow), "only a person may do this: an agent is at work here")
	if c := x.check(e.ID); c.Err == nil {
		t.Error("an agent gets a key")
	}
	attending = nil
	says(x.answer(allow), "approved by")
	if now := state(); now.Answer == nil || now.Answer.Via != "monitor" {
		t.Errorf("%+v", now.Answer)
	}
	attending = errors.New("an agent is at work here")
	says(x.undo(e.ID), "only a person")
	attending = nil
	says(x.undo(e.ID), "waits again")
	if now := state(); now.State != queue.Pending {
		t.Errorf("it is %s", now.State)
	}
	says(x.answer(allow), "approved by")
	says(x.answer(allow), "was answered already")
	if _, found, err := f.queue.TakeGrant(t.Context(), "d"); err != nil || !found {
		t.Fatal(found, err)
	}
	says(x.undo(e.ID), "was used already")
}
