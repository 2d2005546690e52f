package hook

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/base/stack"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/harness"
)

// MaxInput is the most that is read from standard input, in bytes. Claude Code documents no
// limit, and the messages of its tool Write can be megabytes.
const MaxInput = 64 << 20

// longMessage is the length in bytes from which the analysis would spend a fifth of its
// time on garbage collection. garbagePercent lets the heap grow to 64 MB before the first
// collection and then to 17 times the live size: the process ends before memory does.
// maxHeap, in bytes, is a soft limit near which the runtime collects more.
const longMessage, garbagePercent, maxHeap = 32 << 10, 1600, 256 << 20

// CheckFlags are the flags of check. The command tree shows them, and the hook parses them
// itself.
type CheckFlags struct {
	Harness    string
	Limit      time.Duration
	Unattended bool
	ExitCode   bool
	Settings   []string
	// Caller is the process that asks, if it is not this one's parent: the daemon starts check
	// for a harness that asked over HTTP. 0 means the parent.
	Caller int
}

// flags maps the name of each flag to the field that it sets.
func (f *CheckFlags) flags() flags {
	return flags{"harness": &f.Harness, "limit": &f.Limit, "settings": &f.Settings, "exit-code": &f.ExitCode, "unattended": &f.Unattended, "caller": &f.Caller}
}

const setUpWrongly = "the hook is set up wrongly, so every call is blocked: "

// check runs the hook. It always returns 0 or 2.
func check(args []string, p Process) int {
	h, err := Prepare(args, p)
	if err != nil {
		return p.block(setUpWrongly + Plainly(err) + "; fix the command in the harness's settings, see \"cardea check --help\"")
	}
	return h.Run()
}

// Prepare parses the command-line flags of check and returns a run of it.
func Prepare(args []string, p Process) (*Hook, error) {
	f := CheckFlags{Limit: limit.Hook}
	err := parseFlags(args, f.flags())
	if err == nil && f.Limit <= 0 {
		err = fmt.Errorf("--limit must be longer than nothing, not %s", f.Limit)
	}
	if err != nil {
		return nil, err
	}
	if f.Caller != 0 {
		if p, err = p.answeringFor(f.Caller); err != nil {
			return nil, err
		}
	}
	return New(p, f), nil
}

// Hook is one run of check.
type Hook struct {
	process Process
	flags   CheckFlags
	// Decide returns the verdict on an event. Tests replace it to inject failures.
	Decide   func(*Evaluation, context.Context) cardea.Verdict
	Redactor *redact.Redactor
	begin    time.Time
	// lateAfter is the time after begin from which only the answer may still be written.
	lateAfter atomic.Int64
	// progress is how far the run has come. It is never nil.
	progress atomic.Pointer[progress]
	// Unended is the work for which an answer does not wait. The process may end before this
	// work; tests that use the same folders after an answer wait for it.
	Unended sync.WaitGroup
}

// New returns a run of check.
func New(p Process, f CheckFlags) *Hook {
	p.Given = f.Settings
	// The wait for a registration leaves time to decide and to answer.
	p.patience = max(0, min(f.Limit-time.Second, f.Limit*3/4))
	if p.Lines != nil {
		p.Lines = sync.OnceValue(p.Lines) // several callers ask, and each parent process costs six system calls
	}
	h := &Hook{process: p, flags: f, Decide: (*Evaluation).Verdict, Redactor: redact.New(), begin: p.Now()}
	// A failure before the message is read is treated as a message that is not an object,
	// since its form is unknown.
	m := h.wiring().Unread(cardea.NoObject.Issue("", diagnostic.CodeUnreadable, "", "no message was read"))
	h.publish(progress{message: m, event: m.Event, fallback: unset})
	h.lateAfter.Store(int64(f.Limit / 2))
	return h
}

// wiring returns how this hook was installed.
func (h *Hook) wiring() harness.Hook {
	return harness.Hook{Harness: h.flags.Harness, Unattended: h.flags.Unattended || h.process.IsSet("CARDEA_UNATTENDED"), Env: h.process.Env, Lines: h.process.Lines, Piped: h.process.Piped, Adapters: Adapters()}
}

// Run answers within the limit, even if a decider hangs. The gate's context ends a little
// earlier, so that its decisions until then apply.
func (h *Hook) Run() int {
	ctx, cancel := context.WithTimeout(context.Background(), h.flags.Limit*8/10)
	defer cancel()
	watchdog := time.NewTimer(h.flags.Limit * 9 / 10)
	defer watchdog.Stop()
	outputs := make(chan harness.Output, 1)
	h.Unended.Go(func() {
		stack.Grow()
		outputs <- h.guarded(ctx)
	})
	select {
	case out := <-outputs:
		code := h.write(out)
		h.act()
		h.keepLessons()
		h.startIndexes()
		h.startDaemon()
		return code
	case <-watchdog.C:
		return h.write(h.fail(cardea.OutOfTime, fmt.Sprintf("no verdict within %s; look for what is slow with cardea try, or raise --limit together with the harness's time-out",
			h.process.Now().Sub(h.begin).Round(time.Millisecond))))
	}
}

// guarded answers by the failure table if the program panics.
func (h *Hook) guarded(ctx context.Context) (out harness.Output) {
	defer func() {
		if r := recover(); r != nil {
			out = h.fail(cardea.Panicked, fmt.Sprintf("internal error: %v; please report it with the output of cardea try", r))
		}
	}()
	return h.answerMessage(ctx)
}

// write gives the answer to the harness and returns the exit code. It writes standard
// output once, and first, so a closed standard error loses no answer. If standard output
// fails, the call is blocked: an answer that cannot be delivered must not become silence.
func (h *Hook) write(out harness.Output) int {
	h.tellDecision()
	if h.flags.ExitCode {
		out = forScripts(out, h.progress.Load().answer)
	}
	if len(out.Stdout) > 0 {
		if _, err := h.process.Stdout.Write(out.Stdout); err != nil {
			return h.process.block(fmt.Sprintf("the answer could not be written, so the call is blocked: %v", err))
		}
	}
	if len(out.Stderr) > 0 {
		_, _ = h.process.Stderr.Write(out.Stderr)
	}
	return out.Exit
}

// forScripts turns an answer into an exit code, which scripts read more easily than JSON.
func forScripts(out harness.Output, a *cardea.Answer) harness.Output {
	switch {
	case out.Exit != ExitOK:
		return out
	case a == nil || a.Effect < cardea.Ask:
		return harness.Output{Stderr: out.Stderr}
	}
	return harness.Output{Exit: ExitDeny, Stderr: []byte(PlainText(harness.ForBoth(*a)) + "\n")}
}

// act starts the actions. The answer is already out, so a failure here is only a warning.
func (h *Hook) act() {
	for _, job := range h.progress.Load().actions {
		if err := script.Start(h.process.Program, job); err != nil {
			h.process.Warn(err.Error())
		}
	}
}

// remarksFor returns the warnings for standard error that out.Stderr lacks. On exit 2 it
// returns nil, since the model then reads standard error and must get only the reason.
func remarksFor(out harness.Output, issues cardea.Issues) []byte {
	if out.Exit != ExitOK {
		return nil
	}
	var b bytes.Buffer
	for _, t := range issues {
		text := PlainText(t.Error())
		if !bytes.Contains(out.Stderr, []byte(text)) && !bytes.Contains(b.Bytes(), []byte(text)) {
			fmt.Fprintf(&b, "cardea: %s\n", text)
		}
	}
	return b.Bytes()
}
