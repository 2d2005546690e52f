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

// MaxInput is how much of standard input is read, in bytes. Claude Code
// documents no limit, and what Write sends can be megabytes.
const MaxInput = 64 << 20

// longMessage is the length of a message, in bytes, of which the analysis takes so much
// memory that collecting garbage takes a fifth of the time. garbagePercent then lets it
// grow to 64 MB before any is collected, and further to 17 times of what is needed: the
// process ends before the memory is. Near maxHeap, in bytes, more is collected.
const longMessage, garbagePercent, maxHeap = 32 << 10, 1600, 256 << 20

// CheckFlags are the flags of check. The command tree shows them, and the hook reads
// them by itself.
type CheckFlags struct {
	Harness    string
	Limit      time.Duration
	Unattended bool
	ExitCode   bool
	Settings   []string
	// Caller is the process that asks, where that is not this one's parent: the daemon
	// starts check for a harness that asked over HTTP. 0 is none.
	Caller int
}

// flags say what each flag sets.
func (f *CheckFlags) flags() flags {
	return flags{"harness": &f.Harness, "limit": &f.Limit, "settings": &f.Settings, "exit-code": &f.ExitCode, "unattended": &f.Unattended, "caller": &f.Caller}
}

const setUpWrongly = "the hook is set up wrongly, so every call is blocked: "

// check runs the hook: exit code 0 or 2, nothing else, whatever happens.
func check(args []string, p Process) int {
	h, err := Prepare(args, p)
	if err != nil {
		return p.block(setUpWrongly + Plainly(err) + "; fix the command in the harness's settings, see \"cardea check --help\"")
	}
	return h.Run()
}

// Prepare makes a run of check with flags as they stand on the command line.
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
	// Decide gives the verdict on an event; tests put failures in its place.
	Decide   func(*Judgement, context.Context) cardea.Verdict
	Redactor *redact.Redactor
	begin    time.Time
	// lateAfter is how long after that there is no time left for anything but the answer.
	lateAfter atomic.Int64
	// progress is how far the run has come. It is never nil.
	progress atomic.Pointer[progress]
	// Unended is the work that an answer need not wait for: the process may
	// end before it, and who uses the same folders after an answer waits.
	Unended sync.WaitGroup
}

// New makes a run of check.
func New(p Process, f CheckFlags) *Hook {
	p.Given = f.Settings
	// The wait for a registration leaves time to decide and to answer.
	p.patience = max(0, min(f.Limit-time.Second, f.Limit*3/4))
	if p.Lines != nil {
		p.Lines = sync.OnceValue(p.Lines) // several ask, and each process above costs six calls to the system
	}
	h := &Hook{process: p, flags: f, Decide: (*Judgement).Verdict, Redactor: redact.New(), begin: p.Now()}
	// A failure before the message is read counts as a message that is no
	// object, since nobody knows whether it was one.
	m := h.wiring().Unread(cardea.NoObject.Trouble("", cardea.CodeUnreadable, "", "no message was read"))
	h.publish(progress{message: m, event: m.Event, fallback: unset})
	h.lateAfter.Store(int64(f.Limit / 2))
	return h
}

// wiring is how this hook was installed.
func (h *Hook) wiring() harness.Hook {
	return harness.Hook{Harness: h.flags.Harness, Unattended: h.flags.Unattended || h.process.IsSet("CARDEA_UNATTENDED"), Env: h.process.Env, Lines: h.process.Lines, Piped: h.process.Piped, Adapters: Adapters()}
}

// answer is the whole way: bytes, message, call, verdict, answer, bytes. After each
// step it publishes how far it is, for the watchdog.
func (h *Hook) answer(ctx context.Context) harness.Output {
	raw, err := h.read()
	if len(raw) > longMessage {
		h.process.Widen()
		if h.process.Elsewhere == nil {
			debug.SetGCPercent(garbagePercent)
			debug.SetMemoryLimit(maxHeap)
		}
	}
	if err != nil {
		return h.answerUnread(ctx, h.wiring().Unread(cardea.NoObject.Trouble("", cardea.CodeUnreadable, "", err.Error())), nil)
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
	j := NewJudgement(h.process, m.Event)
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
	a.Troubles = slices.Concat(m.Troubles, v.Troubles)
	p.event, p.answer, p.actions, p.stale = j.Event, &a, j.actions(h.Redactor, v), j.Loaded.StaleLessons
	p.keep, p.daemon = j.afterJudge(v, a.Effect, h.Redactor), j.daemon()
	if h.leaveActions(&p) {
		return out
	}
	h.publish(p)
	return h.finish(j, p)
}

// verdict is what was typed for Cardea itself, or what the gate decides. done is set where
// another program gave the answer instead.
func (h *Hook) verdict(ctx context.Context, raw []byte, j *Judgement) (v cardea.Verdict, out harness.Output, done bool) {
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
	if len(alone) == 0 { // the gate reads files, too
		if out, done, alone = h.handOver(ctx, raw); done {
			return v, out, true
		}
	}
	v = h.unlessUnread(v, j.Loaded.Settings.Fallback(), j.Event)
	v.Troubles = slices.Concat(alone, v.Troubles)
	return v, out, false
}

// read reads the message.
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

// finish writes down what there is to write, and gives the answer.
func (h *Hook) finish(j *Judgement, p progress) harness.Output {
	a := *p.answer
	troubles := a.Troubles
	id, unasked := "", j.endsUnasked()
	if p.event.Kind.Answered() || a.Decided >= cardea.Ask || p.event.Review != nil || unasked || j.endsQuestion() {
		var problems cardea.Troubles
		id, problems = p.recorder.record(p.event, a, h.late)
		troubles = slices.Concat(troubles, problems)
	}
	trace := j.Traced.Text(h.Redactor.Show)
	if id != "" && j.Traced != nil {
		trace += fmt.Sprintf("cardea: recorded; see \"cardea explain %s\"\n", id)
	}
	if err := j.logTrace(trace); err != nil {
		troubles = append(slices.Clip(troubles), cardea.Unwritten.Trouble(j.Loaded.LogFile(), cardea.CodeUnwritten, "", err.Error()))
	}
	learned, lerr := j.learn(a)
	troubles = slices.Concat(troubles, learned, j.unshown(a))
	a.Troubles = j.newTroubles(troubles)
	j.noteCreations(a.Effect, h.begin)
	j.noteActions(p.actions, a.Rewrite)
	j.noteQuestion(a)
	if err := errors.Join(lerr, j.grantLead(a.Effect), j.recordChecks(a.Effect), j.Place.Session.Save(h.Redactor), j.keep(h.Redactor, h.late), j.beat(h.process.Now())); err != nil {
		unwritten := cardea.Unwritten.Trouble("", cardea.CodeUnwritten, "", err.Error())
		troubles, a.Troubles = append(slices.Clip(troubles), unwritten), append(a.Troubles, unwritten)
	}
	out := p.message.Write(p.event, a)
	out.Stderr = append(out.Stderr, remarksFor(out, troubles)...)
	if out.Exit == ExitOK && j.debugs() {
		out.Stderr = append(out.Stderr, trace...)
	}
	return out
}

// answerUnread is the answer to a message in which there is nothing to be judged:
// what counts is the setting on_error, and the ledger, of the place where the
// process stands.
func (h *Hook) answerUnread(ctx context.Context, m *harness.Message, raw []byte) harness.Output {
	pl := Locate(h.process, "", "", h.process.Dir)
	w := h.process.Where(&pl)
	w.Compiled = true
	s := inforce.LoadSettings(w)
	var alone cardea.Troubles
	if raw != nil {
		out, done, trouble := h.handOver(ctx, raw)
		if done {
			return out
		}
		alone = trouble
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

// write gives the answer to the harness. Standard output is written once, and first: where
// standard error is closed there is nowhere left to tell, but the answer
// stands. An answer that cannot be delivered must not turn into silence.
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

// forScripts is an answer as an exit code, which scripts read more easily than the
// answer that a harness wants.
func forScripts(out harness.Output, a *cardea.Answer) harness.Output {
	switch {
	case out.Exit != ExitOK:
		return out
	case a == nil || a.Effect < cardea.Ask:
		return harness.Output{Stderr: out.Stderr}
	}
	return harness.Output{Exit: ExitDeny, Stderr: []byte(PlainText(harness.ForBoth(*a)) + "\n")}
}

// act starts the actions. The answer is out, so nothing that goes wrong here is
// more than told.
func (h *Hook) act() {
	for _, job := range h.progress.Load().actions {
		if err := script.Start(h.process.Program, job); err != nil {
			h.process.Warn(err.Error())
		}
	}
}

// remarksFor is what goes to standard error besides the answer. On exit 2 the model
// reads it, and gets the reason alone.
func remarksFor(out harness.Output, troubles cardea.Troubles) []byte {
	if out.Exit != ExitOK {
		return nil
	}
	var b bytes.Buffer
	for _, t := range troubles {
		text := PlainText(t.Error())
		if !bytes.Contains(out.Stderr, []byte(text)) && !bytes.Contains(b.Bytes(), []byte(text)) {
			fmt.Fprintf(&b, "cardea: %s\n", text)
		}
	}
	return b.Bytes()
}
