// Package daemon answers the calls of a user's hooks in one process that stays.
//
// It decides by the code of "cardea check" ([hook.Hook]), with what the caller has of its
// process in place of its own. What only a process of the caller's own may do, it leaves
// to one: commands of people, scripts and judges run with the caller's variables and
// limits, so nobody gets by the daemon what they could not do themselves.
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

// Local answers calls in this process, one after the other or at the same time. It is a
// [control.Client].
type Local struct {
	// Process is that of the daemon. What callers have of theirs replaces it.
	Process hook.Process
	// Memory is what is kept between calls.
	Memory *inforce.Memory
	// Lines are the command lines of the processes above the caller, nil for none.
	Lines func() [][]string
	// Piped reports whether the nth of them reads from what is no terminal; nil: not known.
	Piped func(n int) bool
	// Folders looks up the variables that say where the person's files are; nil: the caller's
	// count.
	Folders func(name string) string
	// Elsewhere notes why a call is left to "cardea check"; the caller may note, too, that
	// it waits no longer. Nil makes a new one for each call.
	Elsewhere *hook.Elsewhere
	// Unended has the work that goes on after an answer; nil is for who waits for it.
	Unended *sync.WaitGroup
}

var _ control.Client = Local{}

// Check answers a call. The caller's own limit counts, which its flags name.
func (l Local) Check(c control.Call, _ time.Time) (control.Answer, error) {
	elsewhere := cmp.Or(l.Elsewhere, &hook.Elsewhere{})
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		return control.Answer{}, control.LeftError("its folder is not absolute")
	}
	var out, errs writer
	p := l.Process
	p.Stdin, p.Stdout, p.Stderr = bytes.NewReader(c.Message), &out, &errs
	p.Env, p.Exported = environment(c.Variables, elsewhere)
	p.Dir, p.Machine.Env = c.Dir, p.Env
	if l.Folders != nil {
		p.Machine.Env = hook.InFolders(l.Folders, p.Env)
	}
	p.Elsewhere, p.Lines, p.Piped = elsewhere, l.Lines, l.Piped
	p.Harness, p.Another, p.AllProcessors, p.StartDaemon = nil, nil, nil, nil
	p.Judge = func(judge.Request, []string) judge.Asker { return noJudge{elsewhere} }
	p.Memory = l.Memory.Begin(elsewhere.Note)
	h, err := hook.Prepare(c.Args, p)
	if err != nil {
		p.Memory.End()
		return control.Answer{}, control.LeftError("its flags are not understood")
	}
	exit := h.Run()
	end := func() { h.Unended.Wait(); p.Memory.End() }
	if l.Unended == nil {
		end()
	} else {
		l.Unended.Go(end)
	}
	if why := elsewhere.Why(); why != "" {
		return control.Answer{}, control.LeftError(why)
	}
	return control.Answer{Exit: exit, Stdout: out.taken(), Stderr: errs.taken()}, nil
}

// OtherFolder names the variable by which a caller's files are in another folder than the
// daemon's, or "".
func (l Local) OtherFolder(v control.Variables) string {
	return hook.OtherFolder(l.Process.Machine, l.Folders, v.Value)
}

// environment looks up the caller's variables. One whose value was not sent is one for
// which the call is left.
func environment(v control.Variables, elsewhere *hook.Elsewhere) (env func(string) string, exported func(string) bool) {
	env = func(name string) string {
		if v.Names[name] {
			elsewhere.Note("it depends on the variable " + name)
		}
		return v.Values[name]
	}
	return env, func(name string) bool { return v.Names[name] || v.Values[name] != "" }
}

// writer takes what a run writes until it is taken: what comes later has no reader.
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

// noJudge leaves a call about which a judge would be asked.
type noJudge struct{ elsewhere *hook.Elsewhere }

func (n noJudge) Ask(context.Context, judge.Question) (judge.Answer, error) {
	n.elsewhere.Note("a judge is to be asked")
	return judge.Answer{}, errLeft
}
