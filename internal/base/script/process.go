// Package script runs the programs of users as children of the gate: signals, whose results
// policies use ([Gather]), and actions, which run after an answer ([Start]). It also runs
// programs that Cardea calls once ([Process]) or repeatedly ([StartServer]).
//
// A child must not be able to harm the gate. It has its own process group, which is killed
// as a whole when its time is over, and usually when it ends. Its output is limited. Input
// comes through a pipe, never the command line, which every user of the machine can read.
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
	// Shell is a shell command. If it is "", the program Path runs with Args.
	Shell, Path string
	Args        []string
	// Name is the program's name for itself, "" for its path.
	Name string
	// Dir is the working folder, Env the variables.
	Dir string
	Env []string
	// Stdin is the standard input.
	Stdin []byte
	// Limit is the maximum duration; 0 means until the context ends.
	Limit time.Duration
	// KeepGroup is set if its children may continue after it ends in time.
	KeepGroup bool
	// MaxOutput and MaxErrors limit the output and standard error in bytes; 0 discards them.
	// More output stops the child; of standard error, the beginning is stored.
	MaxOutput, MaxErrors int
}

// WithoutLibraries returns env without the variables with which the system's loader adds
// code to a program (ld.so(8), dyld(1)). The gate's own programs get none of them, since a
// project's settings can set them for the hook.
func WithoutLibraries(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		return strings.HasPrefix(pair, "LD_") || strings.HasPrefix(pair, "DYLD_") || strings.HasPrefix(pair, "GLIBC_TUNABLES=") || strings.HasPrefix(pair, "GCONV_PATH=")
	})
}

// Errors of a child, in addition to [exec.ExitError].
var (
	// ErrTime is the error of a child that exceeded its time.
	ErrTime error = timeError{}
	// ErrTooMuch is the error of a child that wrote too much.
	ErrTooMuch = errors.New("it says too much")
)

// timeError is a type since building the error with fmt would slow down every start of the
// program.
type timeError struct{}

func (timeError) Error() string {
	return "it gave no answer in time: " + context.DeadlineExceeded.Error()
}
func (timeError) Unwrap() error { return context.DeadlineExceeded }

// StartError is the error of a child that could not start.
type StartError struct{ Err error }

// Error returns the text of the cause.
func (e StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e StartError) Unwrap() error { return e.Err }

// Run runs the child, and returns its standard output and standard error.
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

// limited stores at most most bytes of what is written, and discards the rest.
type limited struct {
	data []byte
	most int
	full bool
	over func()
}

// Write stores as much of p as fits. It never fails.
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
