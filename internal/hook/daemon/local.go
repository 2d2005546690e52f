// Package daemon answers the calls of a user's hooks in one process that stays.
//
// It uses the code of "cardea check" ([hook.Hook]), with the caller's message, variables
// and folder. It leaves what only a process of the caller's own may do: commands of people,
// scripts and judges run with the caller's variables and limits. So a caller gains no
// rights through the daemon.
package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
)

// Local answers calls in this process, also at the same time. It is a [control.Client].
type Local struct {
	// Process is the daemon's process. The caller's data replaces parts of it.
	Process hook.Process
	// Memory is the cache between calls.
	Memory *inforce.Memory
	// Lines returns the command lines of the processes above the caller. It may be nil.
	Lines func() [][]string
	// Piped reports whether the standard input of the nth of them is something other than a
	// terminal. If it is nil, that is unknown.
	Piped func(n int) bool
	// Folders looks up the variables that name the person's folders. If it is nil, the
	// caller's apply.
	Folders func(name string) string
	// Handover records why a call is left to "cardea check". The caller may also record that
	// it no longer waits. If it is nil, each call gets a new one.
	Elsewhere *hook.Handover
	// Unended receives the work that goes on after an answer. If it is nil, Check waits for
	// that work.
	Unended *sync.WaitGroup
}

var _ control.Client = Local{}

// Check answers a call. The limit in the caller's flags applies.
func (l Local) Check(c control.CheckRequest, _ time.Time) (control.CheckResult, error) {
	elsewhere := cmp.Or(l.Elsewhere, &hook.Handover{})
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		return control.CheckResult{}, control.LeftError("its folder is not absolute")
	}
	var out, errs writer
	p := l.Process
	p.Stdin, p.Stdout, p.Stderr = bytes.NewReader(c.Message), &out, &errs
	p.Env, p.Exported = environment(c.Variables, elsewhere)
	p.Dir, p.Machine.Env = c.Dir, p.Env
	if l.Folders != nil {
		p.Machine.Env = hook.InFolders(l.Folders, p.Env)
	}
	p.Handover, p.Lines, p.Piped = elsewhere, l.Lines, l.Piped
	p.Harness, p.Another, p.AllProcessors, p.StartDaemon = nil, nil, nil, nil
	p.Judge = func(judge.Request, []string) judge.Asker { return noJudge{elsewhere} }
	p.Memory = l.Memory.Begin(elsewhere.Note)
	h, err := hook.Prepare(c.Args, p)
	if err != nil {
		p.Memory.End()
		return control.CheckResult{}, control.LeftError("its flags are not understood")
	}
	exit := h.Run()
	end := func() { h.Unended.Wait(); p.Memory.End() }
	if l.Unended == nil {
		end()
	} else {
		l.Unended.Go(end)
	}
	if why := elsewhere.Why(); why != "" {
		return control.CheckResult{}, control.LeftError(why)
	}
	return control.CheckResult{Exit: exit, Stdout: out.taken(), Stderr: errs.taken()}, nil
}

// OtherFolder returns the name of the variable by which a caller's files are in another
// folder than the daemon's, or "".
func (l Local) OtherFolder(v control.Variables) string {
	return hook.OtherFolder(l.Process.Machine, l.Folders, v.Value)
}

// environment returns lookups of the caller's variables. The lookup of a variable whose
// value was not sent leaves the call.
func environment(v control.Variables, elsewhere *hook.Handover) (env func(string) string, exported func(string) bool) {
	env = func(name string) string {
		if v.Names[name] {
			elsewhere.Note("it depends on the variable " + name)
		}
		return v.Values[name]
	}
	return env, func(name string) bool { return v.Names[name] || v.Values[name] != "" }
}

// writer collects the output of a run until taken is called. Later writes fail.
type writer struct {
	mu   sync.Mutex
	text []byte
	done bool
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return 0, io.ErrClosedPipe
	}
	w.text = append(w.text, p...)
	return len(p), nil
}

func (w *writer) taken() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	return w.text
}

var errLeft = errors.New("the call is left to cardea check")

// noJudge leaves a call that needs a judge.
type noJudge struct{ elsewhere *hook.Handover }

// Ask records that the call must be left, and fails.
func (n noJudge) Ask(context.Context, judge.Question) (judge.Assessment, error) {
	n.elsewhere.Note("a judge is to be asked")
	return judge.Assessment{}, errLeft
}
