package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// Processes of tests are this program, started with a word of what to do.
func TestMain(m *testing.M) {
	if work := os.Getenv("QUEUE_TEST_WORK"); work != "" {
		if err := child(work, os.Getenv("QUEUE_TEST_FOLDER")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is the work of such a process. It says what it did, a line each.
func child(work, folder string) error {
	ctx := context.Background()
	s, err := Open(folder, time.Now)
	if err != nil {
		return err
	}
	switch work {
	case "answer": // until nothing waits
		for {
			all, err := s.Pending(ctx)
			if err != nil || len(all) == 0 {
				return err
			}
			for _, i := range rand.Perm(min(len(all), 60)) {
				won, err := s.Answer(ctx, all[i].ID, queue.Resolution{Effect: cardea.Allow, Who: redact.New().Text(fmt.Sprint("p", os.Getpid())), Via: "test"})
				if err != nil {
					return err
				}
				if won {
					fmt.Printf("%d p%d\n", all[i].ID, os.Getpid())
				}
			}
		}
	case "take":
		fmt.Println("ready")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		_, found, err := s.TakeGrant(ctx, "the call")
		fmt.Println(found)
		return err
	case "wait":
		this, err := person.This()
		if err != nil {
			return err
		}
		e, err := s.Add(ctx, entry("waiting", time.Now(), func(e *queue.Entry) { e.Waiter = this }))
		if err != nil {
			return err
		}
		fmt.Println(e.ID)
		a, err := s.Wait(ctx, e)
		fmt.Println(a.Effect, err)
	}
	return nil
}

// start starts such a process.
func start(t *testing.T, work, folder string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "QUEUE_TEST_WORK="+work, "QUEUE_TEST_FOLDER="+folder)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	return cmd, &out
}

func entry(digest string, now time.Time, more ...func(*queue.Entry)) queue.Entry {
	r := redact.New()
	e := queue.Entry{Digest: digest, Tool: "Bash", Subject: r.Text("npm publish"), Input: r.Text(`{"command":"npm publish"}`), Effect: cardea.Ask,
		Created: now, Deadline: now.Add(time.Minute), Validity: time.Minute}
	for _, f := range more {
		f(&e)
	}
	return e
}

func ticket(e *queue.Entry) { e.Ticket = true }

func waiting(t *testing.T) func(*queue.Entry) {
	t.Helper()
	this, err := person.This()
	if err != nil {
		t.Fatal(err)
	}
	return func(e *queue.Entry) { e.Waiter = this }
}

// clock is one that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t *testing.T, folder string, now func() time.Time) *Store {
	t.Helper()
	s, err := Open(folder, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func add(t *testing.T, s *Store, e queue.Entry) queue.Entry {
	t.Helper()
	e, err := s.Add(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func answer(t *testing.T, s *Store, id int64, effect cardea.Effect) bool {
	t.Helper()
	won, err := s.Answer(context.Background(), id, queue.Resolution{Effect: effect, Who: redact.New().Text("liam"), Via: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return won
}

func TestAnswerReachesWhoWaits(t *testing.T) {
	folder := t.TempDir()
	s, face := open(t, folder, time.Now), open(t, folder, time.Now)
	for _, want := range []cardea.Effect{cardea.Allow, cardea.Deny} {
		e := add(t, s, entry("a", time.Now(), waiting(t)))
		go func() {
			time.Sleep(20 * time.Millisecond)
			_, _ = face.Answer(context.Background(), e.ID, queue.Resolution{Effect: want, Message: redact.New().Text("because"), Via: "test"})
		}()
		a, err := s.Wait(context.Background(), e)
		if err != nil || a.Effect != want || a.Message.String() != "because" {
			t.Errorf("%v, %v; want %s", a, err, want)
		}
		if answer(t, face, e.ID, cardea.Deny) {
			t.Error("a second answer won")
		}
		if _, done, _ := face.Undo(context.Background(), e.ID); done {
			t.Error("an answer was taken back that was used")
		}
	}
	if all, err := face.Pending(context.Background()); err != nil || len(all) > 0 {
		t.Errorf("still waiting: %v, %v", all, err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)}
	s := open(t, t.TempDir(), c.Now)
	e := add(t, s, entry("a", c.Now(), waiting(t)))
	go func() { time.Sleep(30 * time.Millisecond); c.add(time.Minute) }()
	if _, err := s.Wait(context.Background(), e); !errors.Is(err, queue.ErrTimedOut) {
		t.Errorf("%v", err)
	}
	if answer(t, s, e.ID, cardea.Allow) {
		t.Error("an answer that came too late won")
	}
	// The same where the call has no more time.
	e = add(t, s, entry("a", c.Now(), waiting(t)))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Wait(ctx, e); !errors.Is(err, queue.ErrTimedOut) {
		t.Errorf("%v", err)
	}
	if got, _ := s.Entry(context.Background(), e.ID); got.State != queue.Expired {
		t.Errorf("it is %s", got.State)
	}
}

func TestUndo(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), time.Now)
	e := add(t, s, entry("a", time.Now(), ticket))
	if _, done, _ := s.Undo(ctx, 0); done || !answer(t, s, e.ID, cardea.Allow) {
		t.Fatal("it was not answered")
	}
	if got, done, err := s.Undo(ctx, 0); err != nil || !done || got.ID != e.ID {
		t.Fatalf("%v %v", done, err)
	}
	if _, found, _ := s.TakeGrant(ctx, "a"); found {
		t.Error("a grant that was taken back counts")
	}
	if !answer(t, s, e.ID, cardea.Deny) {
		t.Error("it cannot be answered again")
	}
	// An answer with a later time can be taken back although a process waits.
	e = add(t, s, entry("b", time.Now(), waiting(t)))
	if won, err := s.Answer(ctx, e.ID, queue.Resolution{Effect: cardea.Allow, From: time.Now().Add(time.Second)}); err != nil || !won {
		t.Fatal(won, err)
	}
	answers := make(chan cardea.Effect, 1)
	go func() { a, _ := s.Wait(ctx, e); answers <- a.Effect }()
	time.Sleep(100 * time.Millisecond)
	if _, done, err := s.Undo(ctx, e.ID); !done || err != nil {
		t.Fatal(done, err)
	}
	answer(t, s, e.ID, cardea.Deny)
	if got := <-answers; got != cardea.Deny {
		t.Errorf("who waits got %s", got)
	}
}

func TestGrants(t *testing.T) {
	ctx := context.Background()
	c := &clock{now: time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)}
	s := open(t, t.TempDir(), c.Now)
	e := add(t, s, entry("a", c.Now(), ticket))
	if again := add(t, s, entry("a", c.Now(), ticket)); again.ID != e.ID {
		t.Error("the same call has two tickets")
	}
	if _, found, _ := s.TakeGrant(ctx, "a"); found {
		t.Error("a ticket that nobody answered counts")
	}
	answer(t, s, e.ID, cardea.Allow)
	if _, found, _ := s.TakeGrant(ctx, "b"); found {
		t.Error("it counts for another call")
	}
	if got, found, err := s.TakeGrant(ctx, "a"); !found || err != nil || got.ID != e.ID {
		t.Errorf("%v %v", found, err)
	}
	if _, found, _ := s.TakeGrant(ctx, "a"); found {
		t.Error("it counts twice")
	}
	late := add(t, s, entry("a", c.Now(), ticket))
	answer(t, s, late.ID, cardea.Allow)
	c.add(time.Minute)
	if _, found, _ := s.TakeGrant(ctx, "a"); found {
		t.Error("it counts after its time")
	}
	denied := add(t, s, entry("d", c.Now(), ticket))
	answer(t, s, denied.ID, cardea.Deny)
	if _, found, _ := s.TakeGrant(ctx, "d"); found {
		t.Error("a deny lets the call run")
	}
	// The answer to a call that waits is not for another one.
	w := add(t, s, entry("w", c.Now(), waiting(t)))
	answer(t, s, w.ID, cardea.Allow)
	if _, found, _ := s.TakeGrant(ctx, "w"); found {
		t.Error("another process took the answer that somebody waits for")
	}
}

// A process that waits is killed: its entry is shown so, and an allow then lets the same
// call run once.
func TestWhoWaitsIsKilled(t *testing.T) {
	ctx, folder := context.Background(), t.TempDir()
	s := open(t, folder, time.Now)
	cmd, _ := start(t, "wait", folder)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	all, err := s.Pending(ctx)
	if err != nil || len(all) != 1 || all[0].Abandoned() {
		t.Fatalf("%v, %v", all, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if all, _ = s.Pending(ctx); len(all) != 1 || !all[0].Abandoned() {
		t.Fatal("it is not shown that nobody waits")
	}
	if !answer(t, s, all[0].ID, cardea.Allow) {
		t.Error("the answer was lost")
	}
	if _, found, err := s.TakeGrant(ctx, "waiting"); !found || err != nil {
		t.Error("the call does not run the next time", err)
	}
}

// Three processes answer a thousand entries, and are killed again and again.
func TestEachEntryIsAnsweredOnce(t *testing.T) {
	const entries, kills = 1000, 20
	ctx, folder := context.Background(), t.TempDir()
	s := open(t, folder, time.Now)
	for i := range entries {
		add(t, s, entry(fmt.Sprint("call ", i), time.Now(), func(e *queue.Entry) {
			e.Ticket, e.Deadline, e.Session = true, time.Now().Add(time.Hour), redact.New().Text(fmt.Sprint("s", i%50))
		}))
	}
	var mu sync.Mutex
	var said []string
	left := kills
	var faces sync.WaitGroup
	for range 3 {
		faces.Go(func() {
			for {
				cmd, out := start(t, "answer", folder)
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				killed := left > 0
				left--
				mu.Unlock()
				if killed {
					time.Sleep(time.Duration(100+rand.IntN(150)) * time.Millisecond)
					_ = cmd.Process.Kill()
				}
				err := cmd.Wait()
				mu.Lock()
				lines := strings.Split(strings.TrimSpace(out.String()), "\n")
				said = append(said, slices.DeleteFunc(lines, func(l string) bool { return l == "" })...)
				mu.Unlock()
				if !killed {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	faces.Wait()
	all, _, err := s.Since(ctx, 0)
	if err != nil || len(all) != entries {
		t.Fatalf("%d entries are left: %v", len(all), err)
	}
	by := map[string]string{}
	for _, e := range all {
		if e.State != queue.Answered || e.Answer.Effect != cardea.Allow {
			t.Fatalf("entry %d is %s", e.ID, e.State)
		}
		by[fmt.Sprint(e.ID)] = e.Answer.Who.String()
	}
	won := map[string]bool{}
	for _, line := range said {
		id, who, _ := strings.Cut(line, " ")
		if won[id] || by[id] != who {
			t.Errorf("entry %s: %s says that it won, and %s did", id, who, by[id])
		}
		won[id] = true
	}
	if len(said) < entries-kills {
		t.Errorf("%d answers were told as won", len(said))
	}
}

// Sixty-four processes want to use one grant.
func TestOneProcessTakesAGrant(t *testing.T) {
	const processes = 64
	folder := t.TempDir()
	s := open(t, folder, time.Now)
	answer(t, s, add(t, s, entry("the call", time.Now(), ticket)).ID, cardea.Allow)
	begin, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var outs [processes]bytes.Buffer
	ready := make(chan struct{}, processes)
	for i := range processes {
		cmd, _ := start(t, "take", folder)
		cmd.Stdin = begin
		cmd.Stdout = &signalling{buffer: &outs[i], ready: ready}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	for range processes {
		<-ready
	}
	_ = end.Close()
	_ = begin.Close()
	running.Wait()
	took := 0
	for i := range outs {
		took += strings.Count(outs[i].String(), "true")
	}
	if took != 1 {
		t.Errorf("%d processes took one grant", took)
	}
}

// signalling signals when a process has written its first line.
type signalling struct {
	buffer *bytes.Buffer
	ready  chan struct{}
	told   bool
}

func (s *signalling) Write(b []byte) (int, error) {
	if !s.told {
		s.told = true
		s.ready <- struct{}{}
	}
	return s.buffer.Write(b)
}

// forge changes the database as a program of the same user can.
func forge(t *testing.T, folder, statement string, args ...any) {
	t.Helper()
	conn, err := sqlite.OpenConn(Path(folder), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.Execute(conn, statement, &sqlitex.ExecOptions{Args: args}); err != nil {
		t.Fatal(err)
	}
}

func TestForgedRowsCountForNothing(t *testing.T) {
	ctx, folder := context.Background(), t.TempDir()
	s := open(t, folder, time.Now)
	approved := add(t, s, entry("harmless", time.Now(), ticket))
	answer(t, s, approved.ID, cardea.Allow)
	e := add(t, s, entry("a", time.Now(), ticket))
	// An answer with a signature of another key, and the answer to another call.
	other, err := state.LoadKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.get(ctx, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	text, signature, err := queue.SealAnswer(other, r.signature, queue.Resolution{Effect: cardea.Allow, Grant: true, At: time.Now(), Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	forge(t, folder, "UPDATE entries SET state = 'answered', answer = ?, answer_signature = ? WHERE id = ?", text, signature, e.ID)
	if _, found, _ := s.TakeGrant(ctx, "a"); found {
		t.Error("a planted answer counts")
	}
	forge(t, folder, "UPDATE entries SET answer = o.answer, answer_signature = o.answer_signature FROM entries AS o WHERE entries.id = ? AND o.id = ?", e.ID, approved.ID)
	if _, found, _ := s.TakeGrant(ctx, "a"); found {
		t.Error("the answer to another call counts")
	}
	forge(t, folder, "UPDATE entries SET digest = 'a' WHERE id = ?", approved.ID)
	if _, found, _ := s.TakeGrant(ctx, "a"); found {
		t.Error("another call that was approved counts")
	}
	// Who waits is not deceived either.
	w := add(t, s, entry("w", time.Now(), waiting(t)))
	forge(t, folder, "UPDATE entries SET state = 'answered', answer = ?, answer_signature = ? WHERE id = ?", text, signature, w.ID)
	if a, err := s.Wait(ctx, w); err == nil || a.Effect == cardea.Allow {
		t.Errorf("who waits got %v, %v", a, err)
	}
	// A person is not shown another text than that of the call which waits.
	shown := add(t, s, entry("s", time.Now(), ticket))
	forge(t, folder, "UPDATE entries SET entry = replace(CAST(entry AS TEXT), 'npm publish', 'npm test') WHERE id = ?", shown.ID)
	if _, err := s.Entry(ctx, shown.ID); !errors.Is(err, queue.ErrForged) {
		t.Errorf("%v", err)
	}
	if won, err := s.Answer(ctx, shown.ID, queue.Resolution{Effect: cardea.Allow}); won || err == nil {
		t.Error("it can be answered")
	}
}

func TestDamagedFile(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(folder string) error{
		"no database": func(folder string) error {
			return os.WriteFile(Path(folder), bytes.Repeat([]byte("nonsense"), 1000), 0o600)
		},
		"other tables": func(folder string) error {
			forge(t, folder, "DROP TABLE entries")
			return nil
		},
		"broken pages": func(folder string) error {
			data, err := os.ReadFile(Path(folder))
			if err != nil {
				return err
			}
			for i := 100; i < len(data); i++ {
				data[i] = 0xa5
			}
			return os.WriteFile(Path(folder), data, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s := open(t, folder, time.Now)
			add(t, s, entry("a", time.Now(), ticket))
			_ = s.Close()
			for _, end := range []string{"-wal", "-shm"} {
				_ = os.Remove(Path(folder) + end)
			}
			if err := damage(folder); err != nil {
				t.Fatal(err)
			}
			s = open(t, folder, time.Now)
			if all, err := s.Pending(ctx); s.Moved() == "" || err != nil || len(all) > 0 {
				t.Errorf("moved to %q; %v, %v", s.Moved(), all, err)
			}
			if _, err := os.Stat(s.Moved()); err != nil {
				t.Error(err)
			}
			// Its numbers differ from those of the damaged one.
			if e := add(t, s, entry("b", time.Now(), ticket)); e.ID < 1000 {
				t.Errorf("call %d", e.ID)
			}
		})
	}
}

// A process that waits in a database that was moved aside gets an error, and does not wait in vain.
func TestReplacedWhileWaiting(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, time.Now)
	e := add(t, s, entry("a", time.Now(), waiting(t)))
	if err := os.Rename(Path(folder), filepath.Join(folder, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(context.Background(), e); err == nil || errors.Is(err, queue.ErrTimedOut) {
		t.Errorf("%v", err)
	}
}

func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), time.Now)
	// SQLite says of a file that may not grow what it says of a full disk.
	if err := s.use(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.ExecuteTransient(conn, "PRAGMA max_page_count=12", nil)
	}); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("word ", 20000)
	_, err := s.Add(ctx, entry("a", time.Now(), ticket, func(e *queue.Entry) { e.Input = redact.New().Text(big) }))
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("%v", err)
	}
}

func TestFloods(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), time.Now)
	err := s.change(ctx, func(conn *sqlite.Conn, _ int64) error {
		return sqlitex.Execute(conn, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?) "+
			"INSERT INTO entries (revision, state, digest, session, ticket, deadline, entry, entry_signature) SELECT 1, 'pending', i, i, 0, ?, '', '' FROM n",
			&sqlitex.ExecOptions{Args: []any{MaxPending, time.Now().Add(time.Hour).UnixMilli()}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(ctx, entry("a", time.Now(), ticket)); !errors.Is(err, queue.ErrFull) {
		t.Errorf("%v", err)
	}
}

// A session that floods the queue takes no place of another one.
func TestFloodOfOneSession(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), time.Now)
	of := func(session string) func(*queue.Entry) {
		return func(e *queue.Entry) { e.Session = redact.New().Text(session) }
	}
	for i := range MaxOfSession {
		add(t, s, entry(fmt.Sprint(i), time.Now(), ticket, of("loud")))
	}
	if _, err := s.Add(ctx, entry("one more", time.Now(), ticket, of("loud"))); !errors.Is(err, queue.ErrFull) {
		t.Errorf("%v", err)
	}
	add(t, s, entry("x", time.Now(), ticket, of("quiet")))
}

func TestModes(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, time.Now)
	add(t, s, entry("a", time.Now(), ticket))
	for path, want := range map[string]os.FileMode{filepath.Dir(Path(folder)): 0o700, Path(folder): 0o600, Path(folder) + "-wal": 0o600, Path(folder) + "-shm": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	// A link in its place could redirect the writes to another folder.
	other := t.TempDir()
	if err := os.Mkdir(filepath.Join(other, Folder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "x"), Path(other)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, time.Now); err == nil {
		t.Error("it follows a link")
	}
}

func TestWatch(t *testing.T) {
	folder := t.TempDir()
	s, face := open(t, folder, time.Now), open(t, folder, time.Now)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var got []string
	e := add(t, s, entry("a", time.Now(), ticket))
	err := face.Watch(ctx, 0, func(all []queue.Entry) error {
		for _, e := range all {
			got = append(got, fmt.Sprint(e.ID, e.State))
			if e.State == queue.Pending {
				answer(t, s, e.ID, cardea.Deny)
			} else {
				cancel()
			}
		}
		return nil
	})
	if want := []string{fmt.Sprint(e.ID, "pending"), fmt.Sprint(e.ID, "answered")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// The call with the least time left comes first, and calls without a waiting process come last.
func TestUrgency(t *testing.T) {
	now := time.Now()
	s := open(t, t.TempDir(), time.Now)
	alive := waiting(t)
	left := func(d time.Duration) func(*queue.Entry) {
		return func(e *queue.Entry) { e.Deadline = now.Add(d) }
	}
	for i, change := range [][]func(*queue.Entry){{ticket, left(time.Hour)}, {left(10 * time.Second)}, {alive, left(time.Minute)}, {alive, left(20 * time.Second)}} {
		add(t, s, entry(fmt.Sprint(i), now, change...))
	}
	all, err := s.Pending(context.Background())
	var ids []int64
	for _, e := range all {
		ids = append(ids, e.ID)
	}
	if err != nil || !slices.Equal(ids, []int64{4, 3, 1, 2}) {
		t.Errorf("%v, %v", ids, err)
	}
}
