//go:build linux

package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/supervisor/post"
	"cardea.dev/internal/base/peer"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// The test program also plays the processes around it: a harness, what it starts to
// answer, and what it starts to ask.
func TestMain(m *testing.M) {
	switch os.Getenv("SUPERVISOR_TEST") {
	case "":
		os.Exit(m.Run())
	case "harness":
		playHarness()
	case "server":
		playServer()
	case "asker":
		playAsker()
	}
}

// playHarness starts what the lines of its standard input name.
func playHarness() {
	signal.Ignore(syscall.SIGPIPE)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), "SUPERVISOR_TEST="+words[0], "SUPERVISOR_DO="+strings.Join(words[1:], " "))
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			fmt.Println("error", err)
		}
		go func() { _ = c.Wait() }()
	}
}

func here() post.Posts {
	return post.Posts{State: os.Getenv("SUPERVISOR_STATE"), Runtime: os.Getenv("SUPERVISOR_RUN")}
}

// playServer answers according to its environment.
func playServer() {
	holder, err := here().Held()
	if err != nil {
		fmt.Println("error", err)
		return
	}
	s, err := Listen(here(), holder)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("listening")
	err = s.Serve(context.Background(), func(ctx context.Context, q Asked) (Reply, error) {
		switch os.Getenv("SUPERVISOR_DO") {
		case "die":
			os.Exit(1)
		case "hang":
			<-ctx.Done()
			return Reply{}, ctx.Err()
		case "babble":
			return Reply{Answer: json.RawMessage(`{"decision":"allow","confidence":1,"reason":"r","scope":"org"}`)}, nil
		}
		reason, err := json.Marshal("heard from " + q.Session + ": " + q.User.String())
		return Reply{Answer: fmt.Appendf(nil, `{"decision":"deny","confidence":0.9,"reason":%s}`, reason), Model: "test"}, err
	})
	fmt.Println("ended", err)
}

// playAsker asks as the session in its environment.
func playAsker() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a, err := Client{Posts: here(), Team: "alpha", Redactor: redact.New()}.Ask(ctx, judge.Question{Session: os.Getenv("SUPERVISOR_DO")})
	fmt.Println("asked", a.Reason.String(), err)
}

// system is a machine with a harness on it.
type system struct {
	t       *testing.T
	posts   post.Posts
	harness *exec.Cmd
	in      io.Writer
	out     *bufio.Scanner
	process person.Running
}

func newSystem(t *testing.T) *system {
	t.Helper()
	run, err := os.MkdirTemp("", "s") // short: a socket's path is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	w := &system{t: t, posts: post.Posts{State: t.TempDir(), Runtime: run}}
	w.harness = exec.Command("/proc/self/exe")
	w.harness.Args[0] = "claude"
	w.harness.Env = append(os.Environ(), "SUPERVISOR_TEST=harness", "SUPERVISOR_STATE="+w.posts.State, "SUPERVISOR_RUN="+w.posts.Runtime)
	in, err := w.harness.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.harness.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.harness.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := w.harness.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-w.harness.Process.Pid, syscall.SIGKILL); _ = w.harness.Wait() })
	w.in, w.out = in, bufio.NewScanner(out)
	all, err := person.Lineage(w.harness.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	w.process = all[0].Running
	return w
}

// appoint makes the harness's session the supervisor.
func (w *system) appoint() post.Post {
	w.t.Helper()
	holder, err := w.posts.Appoint(post.Post{Team: "alpha", Session: "lead-1", Process: w.process, By: "person:liam", At: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	return holder
}

// start starts a program below the harness, and gives its first line.
func (w *system) start(words string) string {
	w.t.Helper()
	if _, err := fmt.Fprintln(w.in, words); err != nil {
		w.t.Fatal(err)
	}
	if !w.out.Scan() {
		w.t.Fatalf("%s says nothing", words)
	}
	return w.out.Text()
}

func (w *system) ask(session, text string, limit time.Duration) (judge.Assessment, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return Client{Posts: w.posts, Team: "alpha", Redactor: redact.New()}.Ask(ctx, judge.Question{User: redact.New().Text(text), Session: session})
}

func (w *system) refused(session, why string) {
	w.t.Helper()
	if a, err := w.ask(session, "x", time.Minute); err == nil || !strings.Contains(err.Error(), why) {
		w.t.Errorf("answered %v, %v; want an error with %q", a.Decision, err, why)
	}
}

// Many sessions ask at once, and each hears the answer to its own question.
func TestManySessions(t *testing.T) {
	w := newSystem(t)
	w.appoint()
	if got := w.start("server"); got != "listening" {
		t.Fatal(got)
	}
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			session := fmt.Sprintf("worker-%d", i)
			for range 4 {
				a, err := w.ask(session, "git push "+session, time.Minute)
				if err != nil || a.Decision != cardea.Deny || a.Confidence != 0.9 || a.Provider != Name || a.Model != "test" || a.Reason.String() != "heard from "+session+": git push "+session {
					t.Errorf("%s: %+v, %v", session, a, err)
				}
			}
		})
	}
	all.Wait()
}

// The supervisor dies while it answers: each session hears so long before its time is up.
func TestItDies(t *testing.T) {
	w := newSystem(t)
	w.appoint()
	if got := w.start("server die"); got != "listening" {
		t.Fatal(got)
	}
	var all sync.WaitGroup
	begin := time.Now()
	for i := range 32 {
		all.Go(func() {
			_, err := w.ask(fmt.Sprintf("worker-%d", i), "x", 10*time.Minute)
			var f *judge.Failure
			if !errors.As(err, &f) || len(f.Attempts) != 1 || f.Attempts[0].Cause != judge.Unreachable {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if time.Since(begin) > 5*time.Minute {
		t.Error("they waited for their own time to end")
	}
	// It comes back: the same program below the same harness.
	if got := w.start("server"); got != "listening" {
		t.Fatal(got)
	}
	if _, err := w.ask("worker-1", "x", time.Minute); err != nil {
		t.Error(err)
	}
}

// A supervisor that comes back while a question waits answers it.
func TestItComesBack(t *testing.T) {
	w := newSystem(t)
	w.appoint()
	if got := w.start("server hang"); got != "listening" {
		t.Fatal(got)
	}
	answered := make(chan error, 1)
	go func() { _, err := w.ask("worker-1", "x", time.Minute); answered <- err }()
	socket, err := w.posts.Socket("alpha")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := peer.Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	owners, err := above(conn)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // the question may be under way or not: both must do
	if err := syscall.Kill(owners[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := w.start("server"); got != "listening" {
		t.Fatal(got)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestItHangsOrBabbles(t *testing.T) {
	w := newSystem(t)
	w.appoint()
	w.refused("worker-1", "does not listen")
	if got := w.start("server hang"); got != "listening" {
		t.Fatal(got)
	}
	var f *judge.Failure
	if _, err := w.ask("worker-1", "x", 200*time.Millisecond); !errors.As(err, &f) || f.Attempts[0].Cause != judge.TimedOut {
		t.Errorf("it hangs: %v", err)
	}
	if got := w.start("server"); !strings.Contains(got, "another process answers") {
		t.Errorf("a second one: %s", got)
	}
	other := newSystem(t)
	other.appoint()
	if got := other.start("server babble"); got != "listening" {
		t.Fatal(got)
	}
	other.refused("worker-1", "a key that was not asked for")
}

// No session answers for itself, and only a supervisor that a person appointed answers.
func TestWhoMayAnswer(t *testing.T) {
	w := newSystem(t)
	w.refused("worker-1", "no supervisor")
	w.appoint()
	if got := w.start("server"); got != "listening" {
		t.Fatal(got)
	}
	w.refused("lead-1", "its own session")
	if got := w.start("asker worker-1"); !strings.Contains(got, "what its own session started") {
		t.Errorf("a session that the supervisor started: %s", got)
	}

	// Another process of this user listens: it has the folder, and not the right.
	forged := newSystem(t)
	holder := forged.appoint()
	socket, err := forged.posts.Socket("alpha")
	if err != nil {
		t.Fatal(err)
	}
	if err := state.PrivateFolder(filepath.Dir(socket)); err != nil {
		t.Fatal(err)
	}
	s, err := Listen(forged.posts, holder) // this process is not below the harness
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- s.Serve(ctx, func(context.Context, Asked) (Reply, error) {
			return Reply{Answer: json.RawMessage(`{"decision":"allow","confidence":1,"reason":"r"}`)}, nil
		})
	}()
	forged.refused("worker-1", "another process than the one that a person made the supervisor")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if state.Exists(socket) {
		t.Error("the socket stays")
	}

	// The record is forged, or its harness has ended.
	path := onlyFile(t, filepath.Join(forged.posts.State, "supervisors"))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "lead-1", "lead-2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	forged.refused("worker-1", "not written by your Cardea")
	holder.Process.Start = "another time"
	if _, err := forged.posts.Appoint(holder); err != nil {
		t.Fatal(err)
	}
	forged.refused("worker-1", "no supervisor")
}

// A program that an agent started may only answer if the agent's session may.
func TestMayAnswer(t *testing.T) {
	own := person.Running{PID: 50, Start: "now"}
	chain := func(agent bool, all ...int) (out []person.Forebear) {
		for _, pid := range all {
			out = append(out, person.Forebear{Running: person.Running{PID: pid, Start: "now"}, Agent: agent && pid == 60})
		}
		return out
	}
	for _, c := range []struct {
		name   string
		holder post.Post
		owners []person.Forebear
		want   string
	}{
		{"what the person started", post.Post{Process: own}, chain(false, 50, 60), ""},
		{"below an agent", post.Post{Process: own}, chain(true, 50, 60), "an agent started"},
		{"a session's", post.Post{Session: "s", Process: own}, chain(true, 40, 60, 50), ""},
		{"another's", post.Post{Session: "s", Process: own}, chain(true, 40, 60, 70), "another process"},
		{"the same number later", post.Post{Session: "s", Process: person.Running{PID: 50, Start: "then"}}, chain(false, 50), "another process"},
		{"nobody's", post.Post{Process: own}, nil, "another process"},
	} {
		if err := mayAnswer(c.holder, c.owners); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Who knows no secret asks in vain, and learns nothing. So does who sends another's proof.
func TestTheSecret(t *testing.T) {
	w := newSystem(t)
	holder := w.appoint()
	if got := w.start("server"); got != "listening" {
		t.Fatal(got)
	}
	socket, err := w.posts.Socket("alpha")
	if err != nil {
		t.Fatal(err)
	}
	talk := func(question func(theirs, mine []byte) message) message {
		conn, err := peer.Dial(t.Context(), socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		l, mine := newLine(conn), nonce()
		if err := l.put(message{Type: typeHello, Nonce: mine}); err != nil {
			t.Fatal(err)
		}
		hello, err := l.get(typeHello)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.put(question(hello.Nonce, mine)); err != nil {
			t.Fatal(err)
		}
		m, err := l.get(typeAnswer)
		if err != nil && m.Type != typeError {
			t.Fatal(err)
		}
		return m
	}
	ask := func(proof []byte) message {
		return message{Type: typeQuestion, ID: "1", Session: "worker-1", Question: &texts{}, Millis: 10000, Proof: proof}
	}
	var stored []byte
	if m := talk(func(theirs, mine []byte) message {
		stored = prove(holder.Secret, asksPurpose, mine, theirs)
		return ask(stored)
	}); m.Type != typeAnswer {
		t.Errorf("a good proof: %+v", m)
	}
	for name, proof := range map[string]func(theirs, mine []byte) []byte{
		"none":       func(_, _ []byte) []byte { return nil },
		"an old one": func(_, _ []byte) []byte { return stored },
		"another secret": func(theirs, mine []byte) []byte {
			return prove(make([]byte, post.SecretSize), asksPurpose, mine, theirs)
		},
		"the other's": func(theirs, mine []byte) []byte { return prove(holder.Secret, answersPurpose, mine, theirs) },
	} {
		if m := talk(func(theirs, mine []byte) message { return ask(proof(theirs, mine)) }); m.Type != typeError || !strings.Contains(m.Error, "does not know") {
			t.Errorf("%s: %+v", name, m)
		}
	}
	for name, spoil := range map[string]func(*message){
		"no question": func(m *message) { m.Question = nil }, "no time": func(m *message) { m.Millis = 0 }, "too much time": func(m *message) { m.Millis = 1 << 40 },
		"no id": func(m *message) { m.ID = "" }, "its own session": func(m *message) { m.Session = "lead-1" }, "a long id": func(m *message) { m.ID = strings.Repeat("x", maxID+1) },
	} {
		m := talk(func(theirs, mine []byte) message {
			m := ask(prove(holder.Secret, asksPurpose, mine, theirs))
			spoil(&m)
			return m
		})
		if m.Type != typeError {
			t.Errorf("%s: %+v", name, m)
		}
	}
	// Noise ends the connection, and nothing else.
	for _, noise := range []string{"\n", "GET / HTTP/1.1\r\n\r\n", `{"v":2,"type":"hello"}` + "\n", strings.Repeat("x", 2*maxLine)} {
		conn, err := peer.Dial(t.Context(), socket)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(noise)) // it may hang up before the end
		text, _ := io.ReadAll(conn)
		if !strings.Contains(string(text), `"type":"error"`) && len(noise) < maxLine {
			t.Errorf("%.20q: %s", noise, text)
		}
		_ = conn.Close()
	}
	if _, err := w.ask("worker-1", "x", time.Minute); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func TestDesk(t *testing.T) {
	d := NewInbox()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	replies := make(chan Reply)
	go func() {
		r, err := d.Handle(ctx, Asked{ID: "long", Team: "alpha"})
		if err != nil {
			t.Error(err)
		}
		replies <- r
	}()
	q, ok := d.Next(ctx)
	if !ok || q.ID != "q1" || q.Team != "alpha" {
		t.Fatalf("%+v", q)
	}
	if err := d.Answer(q.ID, json.RawMessage(`{"decision":"perhaps","confidence":1,"reason":"r"}`), ""); err == nil {
		t.Error("a strange answer counts")
	}
	good := json.RawMessage(`{"decision":"ask","confidence":1,"reason":"r"}`)
	if err := d.Answer(q.ID, good, "m"); err != nil {
		t.Fatal(err)
	}
	if r := <-replies; string(r.Answer) != string(good) || r.Model != "m" {
		t.Errorf("%+v", r)
	}
	if err := d.Answer(q.ID, good, "m"); err == nil {
		t.Error("a second answer counts")
	}
	// The asker does not wait: the question is gone, taken or not.
	short, end := context.WithTimeout(context.Background(), time.Millisecond)
	defer end()
	if _, err := d.Handle(short, Asked{}); err == nil {
		t.Error("nobody answered, and somebody did")
	}
	if q, ok := d.Next(short); ok {
		t.Errorf("a question of nobody: %+v", q)
	}
	if len(d.taken)+len(d.waiting) > 0 {
		t.Error("something is left on the desk")
	}
}

// An agent answers by two tools.
func TestTools(t *testing.T) {
	d := NewInbox()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	call := func(i int, input string) (string, error) {
		v, err := Tools(d)[i].Call(ctx, json.RawMessage(input))
		text, merr := json.Marshal(v)
		if merr != nil {
			t.Fatal(merr)
		}
		return string(text), err
	}
	for _, tool := range Tools(d) {
		if !json.Valid(tool.Input) {
			t.Errorf("the schema of %s: %s", tool.Name, tool.Input)
		}
	}
	if got, err := call(0, `{"wait_seconds":0}`); err != nil || !strings.Contains(got, `"question":null`) {
		t.Errorf("an empty desk: %s, %v", got, err)
	}
	replies := make(chan Reply, 1)
	go func() {
		r, _ := d.Handle(ctx, Asked{Question: judge.Question{User: redact.New().Text("make deploy"), Session: "w-1"}, Until: time.Now().Add(time.Minute)})
		replies <- r
	}()
	got, err := call(0, ``)
	if err != nil || !strings.Contains(got, `"about":"make deploy"`) || !strings.Contains(got, `"id":"q1"`) {
		t.Fatalf("%s, %v", got, err)
	}
	for _, wrong := range []string{`[]`, `{}`, `{"id":"q2","decision":"ask","confidence":1,"reason":"r"}`, `{"id":"q1","decision":"ask","confidence":2,"reason":"r"}`,
		`{"id":"q1","decision":"allow","confidence":1,"reason":"r","share":true}`} {
		if got, err := call(1, wrong); err == nil {
			t.Errorf("%s: %s", wrong, got)
		}
	}
	if got, err := call(1, `{"id":"q1","decision":"ask","confidence":1,"reason":"r"}`); err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if r := <-replies; !strings.Contains(string(r.Answer), `"decision":"ask"`) {
		t.Errorf("%s", r.Answer)
	}
}

// onlyFile returns the one file of a folder.
func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	names, err := state.Names(dir, 2)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", dir, names, err)
	}
	return filepath.Join(dir, names[0])
}
