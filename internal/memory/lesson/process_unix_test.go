//go:build unix

package lesson

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

// In a process of these tests: teach lessons one by one, and report each one that is stored.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LESSONS_TEACH"); dir != "" {
		if err := teacher(dir, os.Getenv("LESSONS_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// placeIn returns the place of here in a folder.
func placeIn(root string) (ScopeFolder, error) {
	p := ScopeFolder{Dir: filepath.Join(root, "p", ".cardea"), Scope: cardea.ScopeProject, Shared: true, State: filepath.Join(root, "state"), Cache: filepath.Join(root, "cache")}
	var err error
	p.Key, err = state.LoadKey(p.State)
	return p, err
}

func teacher(root, name string) error {
	p, err := placeIn(root)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		effect := effects[i%len(effects)]
		subject := fmt.Sprintf("%s-%d", name, i)
		w, err := NewWriter(p)
		if err != nil {
			return err
		}
		if err := w.Teach(draft(effect, subject)); err != nil {
			return err
		}
		fmt.Println(effect, subject)
		// Who decides at the same time finds it.
		s := Open(p)
		found := s.Lookup(subject)
		s.Close()
		if len(found) != 1 || !found[0].Own {
			return fmt.Errorf("%s was kept, and is not found: %v", subject, found)
		}
		if os.Getenv("LESSONS_COUNT") == fmt.Sprint(i+1) {
			return nil
		}
	}
}

// start starts a process that teaches.
func start(t *testing.T, root, name string, count int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LESSONS_TEACH="+root, "LESSONS_NAME="+name, fmt.Sprint("LESSONS_COUNT=", count))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// intact checks every line of the files, and finds the lessons that were reported as stored.
func intact(t *testing.T, p ScopeFolder, stored []string) {
	t.Helper()
	seen := map[string]int{}
	for i, name := range fileNames {
		data, err := os.ReadFile(p.file(i))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.SplitAfter(string(data), "\n") {
			if line == "" {
				continue
			}
			l, err := ParseLine(strings.TrimSuffix(line, "\n"))
			if err != nil || !strings.HasSuffix(line, "\n") {
				t.Errorf("%s holds a torn line: %q, %v", name, line, err)
			}
			seen[l.Effect.String()+" "+l.Subject]++
		}
	}
	s := Open(p)
	defer s.Close()
	for _, k := range stored {
		_, subject, _ := strings.Cut(k, " ")
		if found := s.Lookup(subject); seen[k] != 1 || len(found) != 1 || !found[0].Own || found[0].Effect.String() != strings.Fields(k)[0] {
			t.Errorf("%q stands %d times in the files; found %d", k, seen[k], len(found))
		}
	}
}

// 64 processes that teach and look at once lose nothing and tear nothing.
func TestManyProcessesAtOnce(t *testing.T) {
	const processes, each = 64, 3
	root := t.TempDir()
	p, err := placeIn(root)
	if err != nil {
		t.Fatal(err)
	}
	many(t, p, cardea.Allow, 400) // so that one file is sorted anew, and the other has an index
	var mu sync.Mutex
	var stored []string
	var wg sync.WaitGroup
	for n := range processes {
		cmd, out := start(t, root, fmt.Sprint("p", n), each)
		wg.Go(func() {
			for out.Scan() {
				mu.Lock()
				stored = append(stored, out.Text())
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(stored) != processes*each {
		t.Errorf("%d of %d were kept", len(stored), processes*each)
	}
	intact(t, p, stored)
}

// A process that is killed at any moment loses no lesson that it reported as stored, and does not
// block the others.
func TestKilledAtAnyMoment(t *testing.T) {
	root := t.TempDir()
	p, err := placeIn(root)
	if err != nil {
		t.Fatal(err)
	}
	many(t, p, cardea.Allow, 400)
	r := rand.New(rand.NewPCG(1, 2))
	var stored []string
	longest := 100 // milliseconds; more where that is too short to begin, on a busy machine
	for n := 0; n < 25 || len(stored) < 30 && n < 200; n++ {
		cmd, out := start(t, root, fmt.Sprint("k", n), 0)
		stop, before := make(chan struct{}), len(stored)
		moment := time.Duration(r.IntN(longest)) * time.Millisecond
		go func() {
			select {
			case <-stop:
			case <-time.After(moment):
			}
			_ = cmd.Process.Kill()
		}()
		for out.Scan() {
			stored = append(stored, out.Text())
		}
		close(stop)
		if len(stored) == before {
			longest = min(longest+10, 5000)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("it was not killed: %v", err)
		}
	}
	if len(stored) < 30 {
		t.Fatalf("only %d lessons were taught", len(stored))
	}
	// The call that finds the index out of date has it made again.
	if _, err := writer(t, p).Build(time.Second); err != nil {
		t.Fatal(err)
	}
	intact(t, p, stored)
	teach(t, p, draft(cardea.Deny, "and on"))
	intact(t, p, append(stored, "deny and on"))
}
