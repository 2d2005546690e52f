//go:build unix

package ledger

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/redact"
)

// The test binary runs itself again as writers, each a process of its own like
// a hook.
const (
	envWriter = "CARDEA_TEST_LEDGER_WRITER" // the number of the writer
	envFolder = "CARDEA_TEST_LEDGER_FOLDER"
	envStop   = "CARDEA_TEST_LEDGER_STOP" // stop yourself while you hold the lock
	envCold   = "CARDEA_TEST_LEDGER_COLD" // "one" writes a line and ends, "none" ends
)

const (
	writers = 64
	rounds  = 8
)

func TestMain(m *testing.M) {
	if cold := os.Getenv(envCold); cold != "" {
		if err := writeCold(cold == "one"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if n := os.Getenv(envWriter); n != "" {
		if err := writeAsProcess(n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeAsProcess waits for the sign to begin, writes some entries and prints
// the longest time in microseconds that one took.
func writeAsProcess(n string) error {
	l, err := Open(os.Getenv(envFolder), Options{Key: testKey(), Redactor: redact.New(), Levels: AllLevels(), KeepDays: 30, MaxMB: 256, Now: time.Now})
	if err != nil {
		return err
	}
	if os.Getenv(envStop) != "" {
		// Threads run for a moment after the signal, so the lock is held until the process is
		// continued.
		continued := make(chan os.Signal, 1)
		signal.Notify(continued, syscall.SIGCONT)
		l.locked = func() {
			fmt.Println("locked")
			if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			<-continued
			l.locked = func() {}
		}
	}
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	longest := time.Duration(0)
	for i := range rounds {
		ev, v := command(fmt.Sprintf("writer %s round %d %s", n, i, strings.Repeat("x", 500)), cardea.Deny)
		e := NewEntry(ev, v, Circumstances{Redactor: redact.New(), Key: testKey(), Now: time.Now(), Version: "test"})
		begin := time.Now()
		if err := l.Append(e); err != nil {
			return err
		}
		longest = max(longest, time.Since(begin))
	}
	fmt.Println(longest.Microseconds())
	return nil
}

// writeCold is the work of a hook with the ledger.
func writeCold(write bool) error {
	if !write {
		return nil
	}
	l, err := Open(os.Getenv(envFolder), Options{Key: testKey(), Redactor: redact.New(), Levels: AllLevels(), KeepDays: 30, MaxMB: 256, Now: time.Now})
	if err != nil {
		return err
	}
	ev, v := command("git add . && git commit -m 'a message'", cardea.Deny)
	return l.Append(NewEntry(ev, v, Circumstances{Redactor: redact.New(), Key: testKey(), Now: time.Now(), Version: "test"}))
}

// BenchmarkCheckLedgerCold compares a process that writes a line with one that
// does not: the difference is what a hook pays.
func BenchmarkCheckLedgerCold(b *testing.B) {
	l := start(b)
	for _, what := range []string{"none", "one"} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				c := exec.Command(os.Args[0])
				c.Env = append(os.Environ(), envCold+"="+what, envFolder+"="+l.dir)
				if out, err := c.CombinedOutput(); err != nil {
					b.Fatalf("%v; %s", err, out)
				}
			}
		})
	}
}

// process is one writer.
type process struct {
	*exec.Cmd
	in     *os.File
	out    *bufio.Reader
	stderr bytes.Buffer
}

func launch(t *testing.T, dir string, n int, stops bool) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), envWriter+"="+strconv.Itoa(n), envFolder+"="+dir)
	if stops {
		p.Env = append(p.Env, envStop+"=1")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stdin, p.Stderr, p.in, p.out = r, &p.stderr, w, bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill() // only where the test failed before
			_ = p.Wait()
		}
	})
	return p
}

func (p *process) begin(t *testing.T) {
	t.Helper()
	if _, err := p.in.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
}

// line reads a line of the process.
func (p *process) line(t *testing.T) string {
	t.Helper()
	s, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v; %s", err, p.stderr.String())
	}
	return strings.TrimSpace(s)
}

// finish waits for the end and gives the longest time that a write took.
func (p *process) finish(t *testing.T) time.Duration {
	t.Helper()
	text := p.line(t)
	us, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if err := p.Wait(); err != nil {
		t.Fatalf("%v; %s", err, p.stderr.String())
	}
	return time.Duration(us) * time.Microsecond
}

// together lets all writers of a ledger run, none of them stopped, and gives
// the longest time that a write took.
func together(t *testing.T, b *bench) time.Duration {
	t.Helper()
	var all []*process
	for n := range writers {
		all = append(all, launch(t, b.dir, n, false))
	}
	for _, p := range all {
		p.begin(t)
	}
	longest := time.Duration(0)
	for _, p := range all {
		longest = max(longest, p.finish(t))
	}
	return longest
}

// Sixty-four processes write at once: no line is lost or torn.
func TestManyProcesses(t *testing.T) {
	b := start(t, func(o *Options) { o.Now = time.Now })
	longest := together(t, b)
	b.settle(t)
	t.Logf("the longest write took %s", longest)
}

// settle empties the spool and wants every entry of every writer, once.
func (b *bench) settle(t *testing.T) {
	t.Helper()
	for {
		r := b.verify()
		if !r.Intact() || len(r.Diagnostics) > 0 {
			t.Fatalf("%+v", r.Diagnostics)
		}
		if r.Waiting == 0 {
			break
		}
		if err := b.Append(b.entry("adopts")); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]bool{}
	for n := range writers {
		for i := range rounds {
			want[fmt.Sprintf("writer %d round %d", n, i)] = true
		}
	}
	for _, c := range b.commands() {
		c, _, _ = strings.Cut(c, " x")
		if strings.HasPrefix(c, "writer") && !want[c] {
			t.Errorf("%s is there twice, or was never written", c)
		}
		delete(want, c)
	}
	for c := range want {
		t.Errorf("%s is not there", c)
	}
}

// One of sixty-four processes is stopped while it holds the lock. The others wait no longer than
// the limit, no line is lost, torn or out of place, and the stopped one continues where it was.
func TestManyProcessesAndOneStopped(t *testing.T) {
	// So many processes also wait for a processor, and more so on a busy machine. A run without a
	// stopped process measures how long.
	crowd := together(t, start(t, func(o *Options) { o.Now = time.Now }))
	b := start(t, func(o *Options) { o.Now = time.Now })
	stopped := launch(t, b.dir, 0, true)
	var others []*process
	for n := 1; n < writers; n++ {
		others = append(others, launch(t, b.dir, n, false))
	}
	// Alone, since on a busy machine the others could keep it from the lock for
	// longer than it waits.
	stopped.begin(t)
	if got := stopped.line(t); got != "locked" {
		t.Fatalf("the writer that was to hold the lock says %q", got)
	}
	for _, p := range others {
		p.begin(t)
	}
	longest := time.Duration(0)
	for _, p := range others {
		longest = max(longest, p.finish(t))
	}
	// A guard against hanging, by a factor of ten.
	if longest > 10*(limit.LedgerWrite+crowd) {
		t.Errorf("a writer waited %s; with nobody stopped the longest time is %s", longest, crowd)
	}
	if r := b.verify(); r.Waiting == 0 || !r.Busy {
		t.Errorf("nothing went to the spool, so the lock was not held: %+v", r)
	}
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	stopped.finish(t)
	b.settle(t)
	t.Logf("the longest write took %s; with nobody stopped %s", longest, crowd)
}

// A pipe in the place of a file does not hang the writer.
func TestPipesDoNotHang(t *testing.T) {
	for _, name := range []string{headName, day1 + dayEnd, stubName, "2001-01-01" + dayEnd, spoolName + "/0jk3v9x2mabc1234.json"} {
		b := start(t)
		mkdir(t, b.path(spoolName))
		if err := syscall.Mkfifo(b.path(name), 0o600); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 2)
		go func() {
			done <- b.Append(b.entry("x"))
			_, err := b.Verify()
			done <- err
		}()
		for range 2 {
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatalf("a pipe at %s hangs the ledger", name)
			}
		}
	}
}
