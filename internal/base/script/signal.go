package script

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

	"cardea.dev/internal/base/limit"
)

const (
	// maxOutput is how much a signal may say, in bytes.
	maxOutput = 1 << 20
	// maxError is how much of its standard error is told.
	maxError = 500
	// together is how many run at the same time.
	together = 16
)

// Signal is a script that says what a policy cannot see: the branch, the person on
// call, the state of a ticket. All signals of an event run at the same time, each
// within its own limit, and all within what the caller has left. A signal that
// fails is a value, too, so that a policy can say what follows from it.
type Signal struct {
	// Name is the signal's, Command what the shell runs. File, where it is not
	// "", is run instead of Command.
	Name, Command, File string
	// Dir is the folder in which it runs; it finds it as CLAUDE_PROJECT_DIR, too.
	Dir string
	// Limit is how long it may take; zero is [limit.Signal].
	Limit time.Duration
}

// Result is what a signal said.
type Result struct {
	// Value is a JSON value: what was written, decoded where it is JSON, else as
	// text without the space around it. Of a signal that failed it is
	// {"ok": false, "error": "…", "timed_out": …}, of one that ran to its end also
	// with "exit_code", "output" and "success", as Cupcake gives them; of one that
	// could not be started with "ran": false.
	Value any
	// OK is false where it failed, Unstarted is set where it could not even be
	// started, NoAnswer where it was ended before it came to its end.
	OK, Unstarted, NoAnswer bool
	Took                    time.Duration
}

// Gather runs scripts at the same time and gives what they said, by name. All
// read the same standard input. It comes to its end with ctx.
func Gather(ctx context.Context, scripts []Signal, stdin []byte) map[string]Result {
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
			r := runSignal(ctx, s, stdin)
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

func runSignal(ctx context.Context, s Signal, stdin []byte) Result {
	most := s.Limit
	if most <= 0 {
		most = limit.Signal
	}
	begin := time.Now()
	text, err := runScript(ctx, s, most, stdin)
	r := Result{Took: time.Since(begin)}
	switch {
	case errors.Is(err, ErrTime):
		why := fmt.Sprintf("no answer within %s", time.Since(begin).Round(time.Millisecond))
		if time.Since(begin) < most {
			why += ", which is all that the hook has left; install it with a longer --timeout"
		}
		r.Value, r.NoAnswer = Failed(why, true), true
	case errors.As(err, &StartError{}):
		why := err.Error()
		if errors.Is(err, fs.ErrPermission) {
			why += "; make it executable: chmod +x"
		}
		r.Value, r.Unstarted = map[string]any{"ok": false, "ran": false, "error": why, "timed_out": false}, true
	case err != nil:
		failed := Failed(err.Error(), false).(map[string]any)
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			failed["exit_code"], failed["success"] = exit.ExitCode(), false
			failed["output"] = strings.ToValidUTF8(string(bytes.TrimSpace(text)), "\uFFFD")
		}
		r.Value, r.NoAnswer = failed, exit == nil
	default:
		r.Value, r.OK = decoded(text), true
	}
	return r
}

func runScript(ctx context.Context, s Signal, most time.Duration, stdin []byte) ([]byte, error) {
	env := append(os.Environ(), "CARDEA_SIGNAL="+s.Name)
	if s.Dir != "" {
		env = append(env, "CLAUDE_PROJECT_DIR="+s.Dir)
	}
	p := Process{Path: s.File, Dir: s.Dir, Env: env, Stdin: stdin, Limit: most, MaxOutput: maxOutput, MaxErrors: maxError}
	if s.File == "" {
		p.Shell = s.Command
	}
	out, errs, err := p.Run(ctx)
	said := strings.TrimSpace(string(errs))
	switch {
	case errors.Is(err, ErrTooMuch):
		return nil, fmt.Errorf("it says more than %d bytes", maxOutput)
	case errors.As(err, new(*exec.ExitError)) && said != "":
		return out, fmt.Errorf("%w: %s", err, said)
	}
	return out, err
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
