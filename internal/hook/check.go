package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
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
	m := h.wiring().Unread(cardea.NoObject.Issue("", cardea.CodeUnreadable, "", "no message was read"))
	h.publish(progress{message: m, event: m.Event, fallback: unset})
	h.lateAfter.Store(int64(f.Limit / 2))
	return h
}

// wiring returns how this hook was installed.
func (h *Hook) wiring() harness.Hook {
	return harness.Hook{Harness: h.flags.Harness, Unattended: h.flags.Unattended || h.process.IsSet("CARDEA_UNATTENDED"), Env: h.process.Env, Lines: h.process.Lines, Piped: h.process.Piped, Adapters: Adapters()}
}

// answer runs all steps: bytes, message, call, verdict, answer, bytes. It publishes each
// step for the watchdog.
func (h *Hook) answer(ctx context.Context) harness.Output {
	raw, err := h.read()
	if len(raw) > longMessage {
		h.process.Widen()
		if h.process.Handover == nil {
			debug.SetGCPercent(garbagePercent)
			debug.SetMemoryLimit(maxHeap)
		}
	}
	if err != nil {
		return h.answerUnread(ctx, h.wiring().Unread(cardea.NoObject.Issue("", cardea.CodeUnreadable, "", err.Error())), nil)
	}
	m, err := h.wiring().Open(raw)
	if err != nil {
		return harness.Output{Exit: ExitDeny, Stderr: []byte(harness.Refused("failure", setUpWrongly+Plain(err.Error())) + "\n")}
	}
	if m.Unread {
		return h.answerUnread(ctx, m, raw)
	}
	p := progress{message: m, event: m.Event, fallback: unset}
	h.publish(p)
	j := NewEvaluation(h.process, m.Event)
	p.event, p.fallback, p.recorder = j.Event, j.Loaded.Settings.Fallback(), h.recorderOf(&j.Place, j.Loaded.Settings.Ledger)
	h.publish(p)
	v, out, done := h.verdict(ctx, raw, j)
	if done || h.leave() {
		return out
	}
	if v = h.askPerson(ctx, j, v, p); h.leave() {
		return out
	}
	a := cardea.Express(Harmless(v), m.Capabilities(), j.Event)
	a.Issues = slices.Concat(m.Issues, v.Issues)
	p.event, p.answer, p.actions, p.stale = j.Event, &a, j.actions(h.Redactor, v), j.Loaded.StaleLessons
	p.keep, p.daemon = j.afterJudge(v, a.Effect, h.Redactor), j.daemon()
	if h.leaveActions(&p) {
		return out
	}
	h.publish(p)
	return h.finish(j, p)
}

// verdict returns the result of a command that was typed for Cardea, or the gate's verdict.
// done is set if another program gave the answer instead.
func (h *Hook) verdict(ctx context.Context, raw []byte, j *Evaluation) (v cardea.Verdict, out harness.Output, done bool) {
	if h.leaveTyped(j) {
		return v, out, false
	}
	out, done, alone := h.handOver(ctx, raw)
	if !done && len(alone) == 0 && h.process.Another != nil { // the call may name an archive
		j.Analyse()
		out, done, alone = h.handOver(ctx, raw)
	}
	if done {
		return v, out, true
	}
	v, typed := j.carryOut()
	if !typed {
		v = h.Decide(j, ctx)
	}
	if len(alone) == 0 { // the gate also reads files
		if out, done, alone = h.handOver(ctx, raw); done {
			return v, out, true
		}
	}
	v = h.unlessUnread(v, j.Loaded.Settings.Fallback(), j.Event)
	v.Issues = slices.Concat(alone, v.Issues)
	return v, out, false
}

// read reads the message. It fails if the message is longer than MaxInput.
func (h *Hook) read() ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(h.process.Stdin, MaxInput+1))
	if err != nil {
		return nil, fmt.Errorf("standard input cannot be read: %w", err)
	}
	if len(raw) > MaxInput {
		return nil, fmt.Errorf("the message on standard input is larger than %d MiB", MaxInput>>20)
	}
	return raw, nil
}

// finish writes the records and returns the answer.
func (h *Hook) finish(j *Evaluation, p progress) harness.Output {
	a := *p.answer
	issues := a.Issues
	id, unasked := "", j.endsUnasked()
	if p.event.Kind.Answered() || a.Decided >= cardea.Ask || p.event.Review != nil || unasked || j.endsQuestion() {
		var problems cardea.Issues
		id, problems = p.recorder.record(p.event, a, h.late)
		issues = slices.Concat(issues, problems)
	}
	trace := j.Traced.Text(h.Redactor.Show)
	if id != "" && j.Traced != nil {
		trace += fmt.Sprintf("cardea: recorded; see \"cardea explain %s\"\n", id)
	}
	if err := j.logTrace(trace); err != nil {
		issues = append(slices.Clip(issues), cardea.Unwritten.Issue(j.Loaded.LogFile(), cardea.CodeUnwritten, "", err.Error()))
	}
	learned, lerr := j.learn(a)
	issues = slices.Concat(issues, learned, j.unshown(a))
	a.Issues = j.newIssues(issues)
	j.noteCreations(a.Effect, h.begin)
	j.noteActions(p.actions, a.Rewrite)
	j.noteQuestion(a)
	if err := errors.Join(lerr, j.grantLead(a.Effect), j.recordChecks(a.Effect), j.Place.Session.Save(h.Redactor), j.keep(h.Redactor, h.late), j.beat(h.process.Now())); err != nil {
		unwritten := cardea.Unwritten.Issue("", cardea.CodeUnwritten, "", err.Error())
		issues, a.Issues = append(slices.Clip(issues), unwritten), append(a.Issues, unwritten)
	}
	out := p.message.Write(p.event, a)
	out.Stderr = append(out.Stderr, remarksFor(out, issues)...)
	if out.Exit == ExitOK && j.debugs() {
		out.Stderr = append(out.Stderr, trace...)
	}
	return out
}

// answerUnread answers a message that contains nothing to judge. It applies the setting
// on_error and the ledger of the working folder.
func (h *Hook) answerUnread(ctx context.Context, m *harness.Message, raw []byte) harness.Output {
	pl := Locate(h.process, "", "", h.process.Dir)
	w := h.process.Where(&pl)
	w.Compiled = true
	s := inforce.LoadSettings(w)
	var alone cardea.Issues
	if raw != nil {
		out, done, issue := h.handOver(ctx, raw)
		if done {
			return out
		}
		alone = issue
	}
	p := progress{message: m, event: m.Event, fallback: s.Fallback(), recorder: h.recorderOf(&pl, s.Ledger)}
	a := cardea.Express(m.Verdict(p.fallback), m.Capabilities(), m.Event)
	p.answer = &a
	if h.leave() {
		return harness.Output{}
	}
	h.publish(p)
	_, problems := p.recorder.record(p.event, a, h.late)
	return p.write(slices.Concat(alone, problems)...)
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
