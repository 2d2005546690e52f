// Package script runs what people wrote as children of the gate: signals, whose
// answers policies use ([Gather]); actions, which run after an answer ([Start]);
// and programs that Cardea asks, once ([Process]) or often ([StartServer]).
//
// A child must not be able to hurt the gate. It has a group of its own, which is
// killed as a whole when its time is over, and mostly when it ends. What it
// says is bounded. It reads its input from a pipe, and never from its command line, where
// every user of the machine could read it.
package script

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/limit"
)

// Process is a child with limits.
type Process struct {
	// Shell is a line for the shell; where it is "", the program Path is run with
	// Args.
	Shell, Path string
	Args        []string
	// Name is the name by which the program is started, "" for its path.
	Name string
	// Dir is the folder in which it runs, Env its variables.
	Dir string
	Env []string
	// Stdin is what it can read.
	Stdin []byte
	// Limit is how long it may take, 0 for as long as the context lasts.
	Limit time.Duration
	// KeepGroup is set where what it started may go on when it ends in time.
	KeepGroup bool
	// MaxOutput and MaxErrors are how much it may write, in bytes, 0 for what is
	// thrown away. One that writes more output is stopped, and of errors the
	// beginning is kept.
	MaxOutput, MaxErrors int
}

// WithoutLibraries is an environment without the variables by which the system's loader
// takes more code into a program (ld.so(8), dyld(1)). The gate's own programs get none of
// them: a project's settings can set them for the hook.
func WithoutLibraries(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		return strings.HasPrefix(pair, "LD_") || strings.HasPrefix(pair, "DYLD_") || strings.HasPrefix(pair, "GLIBC_TUNABLES=") || strings.HasPrefix(pair, "GCONV_PATH=")
	})
}

// Errors of a child, besides [exec.ExitError].
var (
	// ErrTime is that of a child whose time was over.
	ErrTime error = timeError{}
	// ErrTooMuch is that of a child that wrote too much.
	ErrTooMuch = errors.New("it says too much")
)

// timeError is a value of its own, since to put one together with fmt costs every start
// of the program.
type timeError struct{}

func (timeError) Error() string {
	return "it gave no answer in time: " + context.DeadlineExceeded.Error()
}
func (timeError) Unwrap() error { return context.DeadlineExceeded }

// StartError is the error of a child that could not be started.
type StartError struct{ Err error }

// Error says why.
func (e StartError) Error() string { return e.Err.Error() }

// Unwrap gives why.
func (e StartError) Unwrap() error { return e.Err }

// Run runs the child, and gives what it wrote.
func (p Process) Run(ctx context.Context) (output, errs []byte, err error) {
	if p.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Limit)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	if p.Shell != "" {
		cmd = shell(ctx, p.Shell)
	}
	if p.Name != "" {
		cmd.Args[0] = p.Name
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.Dir, p.Env, limit.Pipes
	if p.Stdin != nil {
		cmd.Stdin = bytes.NewReader(p.Stdin)
	}
	group(cmd)
	out, told := limited{most: p.MaxOutput, over: func() { _ = cmd.Cancel() }}, limited{most: p.MaxErrors}
	if p.MaxOutput > 0 {
		cmd.Stdout = &out
	}
	if p.MaxErrors > 0 {
		cmd.Stderr = &told
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, StartError{err}
	}
	err = cmd.Wait()
	if !p.KeepGroup {
		killGroup(cmd)
	}
	switch {
	case out.full:
		err = ErrTooMuch
	case ctx.Err() != nil:
		err = ErrTime
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return out.data, told.data, err
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
