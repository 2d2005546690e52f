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
	// maxOutput is the maximum output of a signal in bytes.
	maxOutput = 1 << 20
	// maxError is how much of its standard error is reported, in bytes.
	maxError = 500
	// together is the maximum number of signals that run at the same time.
	together = 16
)

// Signal is a script that supplies what a policy cannot see: the branch, the person on
// call, the state of a ticket. All signals of an event run at the same time, within their
// own limits and the caller's remaining time. A failed signal also has a value, so that a
// policy can react to it.
type Signal struct {
	// Name is the signal's name, Command a shell command. File, unless it is "", runs instead
	// of Command.
	Name, Command, File string
	// Dir is the working folder. The script also finds it in CLAUDE_PROJECT_DIR.
	Dir string
	// Limit is the maximum duration; zero means [limit.Signal].
	Limit time.Duration
}

// Result is the result of a signal.
type Result struct {
	// Value is a JSON value: the output, decoded if it is JSON, else as trimmed text. For a
	// failed signal it is {"ok": false, "error": "…", "timed_out": …}. If the signal ended by
	// itself, it also has "exit_code", "output" and "success", as in Cupcake. If it could not
	// start, it has "ran": false.
	Value any
	// OK is false if the signal failed. Unstarted is set if it could not start, NoAnswer if it
	// was stopped early.
	OK, Unstarted, NoAnswer bool
	Took                    time.Duration
}

// Gather runs scripts at the same time and returns their results by name. All read the same
// standard input. It ends with ctx.
func Gather(ctx context.Context, scripts []Signal, stdin []byte) map[string]Result {
	out := make(map[string]Result, len(scripts))
	var mu sync.Mutex
	var group sync.WaitGroup
	permits := make(chan struct{}, together)
	for _, s := range scripts {
		group.Add(1)
		go func() {
			defer group.Done()
			permits <- struct{}{}
			defer func() { <-permits }()
			r := runSignal(ctx, s, stdin)
			mu.Lock()
			defer mu.Unlock()
			out[s.Name] = r
		}()
	}
	group.Wait()
	return out
}

// Failed returns the value of a failed signal.
func Failed(why string, timedOut bool) any {
	return map[string]any{"ok": false, "error": why, "timed_out": timedOut}
}

// runSignal runs one signal and turns a failure into a value.
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

// runScript runs the command or file of a signal, and returns its output.
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

// decoded returns output as a JSON value, or as text if it is not JSON.
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
