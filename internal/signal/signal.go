// Package signal runs scripts whose output policies use.
//
// A signal says what a policy cannot see: the branch, the person on call, the
// state of a ticket. It is a command of the shell, and it must not be able to
// hurt the gate: all signals of an event run at the same time, each within its
// own limit and all within what the caller has left; what a script says is
// bounded; the whole process group is killed when its time is over. A signal
// that fails is a value, too, so that a policy can say what follows from it.
//
// A script reads the event on standard input, redacted by the caller, and never
// on its command line, where every user of the machine could read it.
package signal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// DefaultLimit is how long a signal may take where nobody says.
	DefaultLimit = 5 * time.Second
	// maxOutput is how much a signal may say, in bytes.
	maxOutput = 1 << 20
	// maxError is how much of its standard error is told.
	maxError = 500
	// together is how many run at the same time.
	together = 16
	// linger is how long the pipes of a killed script are waited for.
	linger = 50 * time.Millisecond
)

// Script is a signal.
type Script struct {
	// Name is the signal's, Command what the shell runs. File, where it is not
	// "", is run instead of Command.
	Name, Command, File string
	// Dir is the folder in which it runs; it finds it as CLAUDE_PROJECT_DIR, too.
	Dir string
	// Limit is how long it may take; zero is [DefaultLimit].
	Limit time.Duration
}

// Result is what a signal said.
type Result struct {
	// Value is a JSON value: what was written, decoded where it is JSON, else as
	// text without the space around it. Of a signal that failed it is
	// {"ok": false, "error": "…", "timed_out": …}, of one that could not be
	// started with "ran": false.
	Value any
	// OK is false where it failed, Unstarted is set where it could not even be
	// started.
	OK, Unstarted bool
	Took          time.Duration
}

// Gather runs scripts at the same time and gives what they said, by name. All
// read the same standard input. It comes to its end with ctx.
func Gather(ctx context.Context, scripts []Script, stdin []byte) map[string]Result {
	out := make(map[string]Result, len(scripts))
	var mu sync.Mutex
	var group sync.WaitGroup
	slots := make(chan struct{}, together)
	for _, s := range scripts {
		group.Add(1)
		go func() {
			defer group.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			r := Run(ctx, s, stdin)
			mu.Lock()
			defer mu.Unlock()
			out[s.Name] = r
		}()
	}
	group.Wait()
	return out
}

// Failed is the value of a signal that failed.
func Failed(why string, timedOut bool) any {
	return map[string]any{"ok": false, "error": why, "timed_out": timedOut}
}

// Run runs one script.
func Run(ctx context.Context, s Script, stdin []byte) Result {
	limit := s.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begin := time.Now()
	text, err := run(ctx, s, stdin)
	r := Result{Took: time.Since(begin)}
	switch {
	case ctx.Err() != nil:
		why := fmt.Sprintf("no answer within %s", time.Since(begin).Round(time.Millisecond))
		if time.Since(begin) < limit {
			why += ", which is all that the hook has left; install it with a longer --timeout"
		}
		r.Value = Failed(why, true)
	case errors.As(err, &unstarted{}):
		r.Value, r.Unstarted = map[string]any{"ok": false, "ran": false, "error": err.Error(), "timed_out": false}, true
	case err != nil:
		r.Value = Failed(err.Error(), false)
	default:
		r.Value, r.OK = decoded(text), true
	}
	return r
}

// unstarted is why a script could not be started.
type unstarted struct{ err error }

// Error is why, and what to do about what is mostly the reason.
func (u unstarted) Error() string {
	if errors.Is(u.err, fs.ErrPermission) {
		return u.err.Error() + "; make it executable: chmod +x"
	}
	return u.err.Error()
}

var errTooMuch = fmt.Errorf("it says more than %d bytes", maxOutput)

func run(ctx context.Context, s Script, stdin []byte) ([]byte, error) {
	cmd := command(ctx, s)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), "CARDEA_SIGNAL="+s.Name)
	if s.Dir != "" {
		cmd.Env = append(cmd.Env, "CLAUDE_PROJECT_DIR="+s.Dir)
	}
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = linger
	own(cmd)
	var out, errs limited
	out.most, errs.most = maxOutput, maxError
	// A script that says too much is stopped, not read to its end.
	stop := func() { _ = cmd.Cancel() }
	out.over = stop
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return nil, unstarted{err}
	}
	err := cmd.Wait()
	sweep(cmd)
	switch {
	case out.full:
		return nil, errTooMuch
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		if said := strings.TrimSpace(string(errs.data)); said != "" {
			return nil, fmt.Errorf("%w: %s", err, said)
		}
		return nil, err
	}
	return out.data, nil
}

// limited keeps so much of what is written, and takes the rest without keeping
// it.
type limited struct {
	data []byte
	most int
	full bool
	over func()
}

// Write keeps what there is room for.
func (l *limited) Write(p []byte) (int, error) {
	room := l.most - len(l.data)
	if len(p) <= room {
		l.data = append(l.data, p...)
		return len(p), nil
	}
	l.data = append(l.data, p[:room]...)
	if !l.full && l.over != nil {
		l.over()
	}
	l.full = true
	return len(p), nil
}

// decoded is what was written as a JSON value.
func decoded(text []byte) any {
	text = bytes.TrimSpace(text)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if len(text) > 0 && d.Decode(&v) == nil {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return v
		}
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
