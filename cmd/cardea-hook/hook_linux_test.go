package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardea.dev/internal/decide/policy/sample"
	"cardea.dev/internal/testing/sharedtest"
)

// built is the folder in which TestMain builds the three programs.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cardea-hook-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		built = dir
		if out, err := exec.Command("go", "build", "-o", dir+"/", "cardea.dev/cmd/...").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// fixture is the installed programs, a person, and a project.
type fixture struct {
	t                         testing.TB
	dir, bin, home, work, run string
	env                       []string
}

func newFixture(t testing.TB, programs ...string) *fixture {
	t.Helper()
	dir, err := os.MkdirTemp("", "ch") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &fixture{t: t, dir: dir, bin: dir + "/bin", home: dir + "/home", work: dir + "/work", run: dir + "/run"}
	for _, d := range []string{s.bin, s.home, s.work + "/.git", s.run} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range programs {
		s.program(p)
	}
	s.env = []string{"HOME=" + s.home, "XDG_RUNTIME_DIR=" + s.run, "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + s.work, "SOMETHING=else"}
	return s
}

// program installs a program as a separate file.
func (s *fixture) program(name string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(built, name))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.bin+"/new", data, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(s.bin+"/new", s.bin+"/"+name); err != nil {
		s.t.Fatal(err)
	}
}

func (s *fixture) socket() string { return s.run + "/cardea/daemon" }

// daemon starts the daemon, and waits until it listens.
func (s *fixture) daemon(args ...string) *exec.Cmd {
	s.t.Helper()
	c := exec.Command(s.bin+"/cardea-engine", append([]string{"serve"}, args...)...)
	c.Dir, c.Env, c.Stderr = s.home, s.env, os.Stderr
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	s.listens()
	return c
}

// listens waits until a process listens at the socket.
func (s *fixture) listens() {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("unix", s.socket())
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("the daemon does not listen: ", err)
		}
	}
}

// said is the answer of a hook.
type said struct {
	out, errs string
	exit      int
}

// call runs a hook of the folder.
func (s *fixture) call(program string, stdin io.Reader, args ...string) said {
	s.t.Helper()
	c := exec.Command(s.bin+"/"+program, append([]string{"check"}, args...)...)
	var out, errs bytes.Buffer
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = s.work, s.env, stdin, &out, &errs
	err := c.Run()
	if c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return said{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

// forget removes all records of calls.
func (s *fixture) forget() {
	s.t.Helper()
	for _, d := range []string{".local", ".cache"} {
		if err := os.RemoveAll(s.home + "/" + d); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *fixture) message(command string) string {
	text, _ := json.Marshal(command)
	return fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%s}}`, s.work, text)
}

// denied checks that a call that must be denied is denied.
func (s *fixture) denied(what string) {
	s.t.Helper()
	if got := s.call(
		"cardea-hook",
		strings.NewReader(s.message("git push --force origin main")),
		"--harness",
		"claude-code",
		"--limit",
		"1m",
	); !strings.Contains(got.out, `"permissionDecision":"deny"`) ||
		got.exit != 0 || got.errs != "" {
		s.t.Errorf("%s: %+v", what, got)
	}
}

var all = []string{"cardea", "cardea-engine", "cardea-hook"}

// The daemon gives the same bytes as a process, for every payload and for malformed messages.
// There is no cardea to fall back to, so calls that the daemon leaves are noticed.
func TestSameBytes(t *testing.T) {
	cold := newFixture(t, all...)
	warm := *cold
	warm.bin = cold.dir + "/without"
	if err := os.Mkdir(warm.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	warm.program("cardea-engine")
	warm.program("cardea-hook")
	if err := os.MkdirAll(cold.work+"/.cardea/rules", 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"/.config/cardea/rules/a.yaml": "rules: [{id: ask-make, tool: Bash, match: {command: make}, effect: ask, reason: r}, {id: halt-x, tool: Bash, match: {command: halt}, effect: halt, reason: r}]\n",
		"/.config/cardea/cardea.yaml":  "permissions: {expand: true}\nunknown: 1\n", "/.claude/settings.json": `{"permissions":{"allow":["Bash(npm test:*)"],"deny":["Bash(terraform:*)"]}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(cold.home+path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(cold.home+path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	warm.daemon()
	type one struct {
		name, text string
		args       []string
	}
	var cases []one
	for _, harness := range []string{"claude-code", "copilot-cli"} {
		files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "payloads", harness), "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatal("no payloads", err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			cases = append(cases, one{f, string(data), []string{"--harness", harness}})
		}
	}
	for _, command := range []string{
		"ls",
		"git push -f",
		"make",
		"halt",
		"terraform apply",
		"timeout 30 npm test",
		"frobnicate $x",
		"echo \x00 \x1b[31m",
		"cat ~/.ssh/id_rsa",
		"cd /; ls",
		"> Makefile",
		"rm -rf ~",
	} {
		cases = append(cases, one{command, cold.message(command), []string{"--harness=claude-code"}}, one{command, cold.message(command), nil},
			one{command, cold.message(command), []string{"--unattended", "--exit-code", "--limit", "1m"}})
	}
	for _, text := range []string{
		"",
		"{",
		"[]",
		"null",
		`{"a":1,"a":2}`,
		strings.Repeat("[", 5000),
		"\xff\xfe",
		cold.message(strings.Repeat("echo hello; ", 20000)),
		`{"tool_name":"Bash","TOOL_NAME":"x"}`,
	} {
		cases = append(cases, one{text[:min(20, len(text))], text, []string{"--harness", "claude-code"}}, one{text[:min(20, len(text))], text, nil})
	}
	for _, c := range cases {
		args := append([]string{"--limit", "1m"}, c.args...)
		cold.forget()
		want := cold.call("cardea", strings.NewReader(c.text), args...)
		cold.forget()
		if got := warm.call("cardea-hook", strings.NewReader(c.text), args...); got != want {
			t.Errorf("%s %v:\nthe daemon %+v\ncardea     %+v", c.name, c.args, got, want)
		}
	}
	if len(cases) < 40 {
		t.Errorf("only %d cases", len(cases))
	}
}

// cardea answers the calls that the daemon leaves, with the same answer.
func TestLeft(t *testing.T) {
	s := newFixture(t, all...)
	s.daemon()
	ran := s.dir + "/ran"
	if err := os.MkdirAll(s.home+"/.config/cardea", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.home+"/.config/cardea/cardea.yaml", fmt.Appendf(nil, "actions: {on_any_denial: [{command: 'echo $SOMETHING > %s'}]}\n", ran), 0o600); err != nil {
		t.Fatal(err)
	}
	s.denied("with an action")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		// The action has the variables of the harness, not of the daemon.
		if data, err := os.ReadFile(ran); err == nil && string(data) == "else\n" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the action did not run")
		}
	}
	entries, err := filepath.Glob(s.home + "/.local/state/cardea/ledger/*.jsonl")
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if data, err := os.ReadFile(entries[0]); err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("a call that is left is recorded once: %s, %v", data, err)
	}
}

// The call gets its answer, whatever is at the other end of the socket.
func TestUntrusted(t *testing.T) {
	s := newFixture(t, all...)
	s.denied("no daemon")
	// Another program listens, and would allow everything.
	if err := os.MkdirAll(filepath.Dir(s.socket()), 0o700); err != nil {
		t.Fatal(err)
	}
	fake, err := net.Listen("unix", s.socket())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.socket(), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan int, 100)
	go func() {
		for {
			conn, err := fake.Accept()
			if err != nil {
				return
			}
			data, _ := io.ReadAll(conn)
			read <- len(data)
			_ = conn.Close()
		}
	}()
	s.denied("another program")
	if n := <-read; n != 0 {
		t.Errorf("another program was sent %d bytes of the call", n)
	}
	_ = fake.Close()
	s.denied("nobody listens")
	if err := os.WriteFile(s.socket(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.denied("a file")
	_ = os.Remove(s.socket())
	d := s.daemon()
	for path, mode := range map[string]os.FileMode{s.socket(): 0o666, filepath.Dir(s.socket()): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s.denied("open to others: " + path)
		if err := os.Chmod(path, mode&0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The daemon does not get to answer.
	if err := d.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.denied("stopped")
	if err := d.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.denied("going on")
}

// The daemon may be killed at any moment.
func TestKilled(t *testing.T) {
	s := newFixture(t, all...)
	stop := make(chan struct{})
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.denied("while the daemon is killed")
				}
			}
		})
	}
	for n := range 12 {
		d := s.daemon() // leftovers of the previous one do no harm
		time.Sleep(time.Duration(n*7) * time.Millisecond)
		if err := d.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = d.Wait()
	}
	close(stop)
	calls.Wait()
	if _, err := os.Lstat(s.socket()); err != nil {
		t.Error("a daemon that is killed leaves its socket: ", err)
	}
}

// Only one daemon runs. It ends with SIGTERM, when it is idle, and when its program is
// replaced.
func TestOne(t *testing.T) {
	s := newFixture(t, all...)
	d := s.daemon()
	second := exec.Command(s.bin+"/cardea", "serve")
	second.Dir, second.Env = s.home, s.env
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "the daemon runs already") {
		t.Errorf("a second daemon: %v %s", err, out)
	}
	s.denied("after a second one")
	if err := d.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil {
		t.Errorf("ended: %v", err)
	}
	if _, err := os.Lstat(s.socket()); err == nil {
		t.Error("the socket is left")
	}
	d = s.daemon("--idle", "1s")
	if err := d.Wait(); err != nil {
		t.Errorf("idle: %v", err)
	}
	d = s.daemon()
	s.program("cardea-engine")
	s.denied("another program is installed")
	third := s.daemon() // the old one ends
	if err := d.Wait(); err != nil {
		t.Errorf("replaced: %v", err)
	}
	s.listens()
	s.denied("the new one")
	if err := third.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("the new one has ended")
	}
}

// An incomplete message has the same result as with cardea.
func TestNoEnd(t *testing.T) {
	s := newFixture(t, all...)
	s.daemon()
	in, keep, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	if got := s.call("cardea-hook", in, "--harness", "claude-code", "--limit", "2s"); got.exit != exitDeny {
		t.Errorf("got %+v", got)
	}
}

func TestLimitOf(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"":           5 * time.Second,
		"--limit 2s": 2 * time.Second,
		"--harness claude-code --limit=1m --unattended": time.Minute,
		"--limit 1s --limit 3s":                         3 * time.Second,
		"--limit":                                       0, "--limit x": 0, "--limit=-1s": 0, "--": 0, "x": 0, "--other": 0, "-h": 0, "--limit=1s -- x": 0} {
		got, plain := limitOf(strings.Fields(line))
		if plain != (want > 0) || plain && got != want {
			t.Errorf("%q: %s, %t", line, got, plain)
		}
	}
}

// BenchmarkHook compares a call through the daemon, and one without it, with /bin/true, by
// the medians of alternating runs. The set-ups are: nothing, 50 policies of which three
// match, 10 000 rules of the person, and a daemon that answers at once.
func BenchmarkHook(b *testing.B) {
	for _, setup := range []string{"plain", "policies", "rules", "atonce"} {
		b.Run(setup, func(b *testing.B) {
			s := newFixture(b, all...)
			files := map[string]string{}
			switch setup {
			case "atonce":
				if out, err := exec.Command("go", "build", "-o", s.bin+"/cardea-engine", "./testdata/atonce").CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			case "policies":
				for name, text := range sample.Files(50) {
					files["policies/"+name] = text
				}
			case "rules":
				for i := range 5 { // a file holds at most a mebibyte
					files[fmt.Sprintf("rules/%d.yaml", i)] = ownRules(i, 2000)
				}
			}
			for name, text := range files {
				at := filepath.Join(s.home, ".config/cardea", name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
					b.Fatal(err)
				}
			}
			s.compare(b)
		})
	}
}

// ownRules returns a file with n rules of the person.
func ownRules(file, n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: rule-%d-%d, tool: Bash, match: {command: program%d sub}, effect: ask, message: Use another one., tests: [{input: {command: program%d sub}, expect: ask}]}\n", file, i, i, i)
	}
	return b.String()
}

// compare reports medians.
func (s *fixture) compare(b *testing.B) {
	s.daemon()
	message := s.message("ls -la")
	programs := [][]string{{"/bin/true"}, {s.bin + "/cardea-hook", "check", "--harness", "claude-code"}, {s.bin + "/cardea", "check", "--harness", "claude-code"}}
	took := make([][]time.Duration, len(programs))
	run := func(i int) time.Duration {
		c := exec.Command(programs[i][0], programs[i][1:]...)
		c.Dir, c.Env, c.Stdin = s.work, s.env, strings.NewReader(message)
		begin := time.Now()
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	for range 5 {
		run(1)
		run(2)
	}
	time.Sleep(3500 * time.Millisecond) // files written just now are read at each call
	for b.Loop() {
		for i := range programs {
			took[i] = append(took[i], run(i))
		}
	}
	median := func(i int) float64 { slices.Sort(took[i]); return float64(took[i][len(took[i])/2]) }
	b.ReportMetric(median(1)/median(0), "daemon/true")
	b.ReportMetric(median(2)/median(0), "cold/true")
	b.ReportMetric(float64(took[1][0])/float64(took[0][0]), "least-daemon/true")
	b.ReportMetric(float64(took[2][0])/float64(took[0][0]), "least-cold/true")
}
