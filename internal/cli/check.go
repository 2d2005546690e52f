package cli

import (
	"bytes"
	"cmp"
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
	"cardea.dev/internal/harness"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/limit"
	"cardea.dev/internal/redact"
	"cardea.dev/internal/script"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxInput is how much of standard input is read, in bytes. Claude Code
// documents no limit, and what Write sends can be megabytes.
const maxInput = 64 << 20

// longMessage is the length of a message, in bytes, of which the analysis takes so much
// memory that collecting garbage takes a fifth of the time.
const longMessage = 32 << 10

// checkFlags are the flags of check. They are one set, which the command tree
// shows and the hook parses without the tree.
type checkFlags struct {
	harness    string
	limit      time.Duration
	unattended bool
	exitCode   bool
	settings   []string
}

func (f *checkFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.harness, "harness", "", "the harness that this hook is installed for (default: detected from the message)")
	fs.DurationVar(&f.limit, "limit", limit.Hook, "answer within this time; the harness's own limit must be longer")
	fs.StringArrayVar(&f.settings, "settings", nil, "a settings file that the harness was started with, if its own --settings cannot be seen")
	fs.BoolVar(&f.exitCode, "exit-code", false, "for scripts: exit with 2 and the reason on standard error for ask, deny and halt, else with 0 and nothing")
	fs.BoolVar(&f.unattended, "unattended", false, "no person watches this agent, like CARDEA_UNATTENDED=1")
}

func checkCommand(p Process) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [--harness H] [--limit D]",
		Short: "judge the call on standard input (this is the hook)",
		Long: `Read a hook message from standard input and write the answer that the harness
expects.

Harnesses start this command for every tool call. To see what it would answer,
use "cardea try". Standard output gets one JSON object or nothing. Messages for
a person go to standard error.`,
		Args: cobra.NoArgs,
	}
	var f checkFlags
	f.add(c.Flags())
	// The tree only shows the command; Main runs it. What gets here anyway,
	// by flags before the command's name, must not pass a call.
	c.RunE = func(*cobra.Command, []string) error { return ended(newHook(p, f).run()) }
	return c
}

// check runs the hook: exit code 0 or 2, nothing else, whatever happens.
func check(args []string, p Process) int {
	var f checkFlags
	fs := flagSet("check")
	f.add(fs)
	err := fs.Parse(args)
	switch {
	case err == nil && fs.NArg() > 0:
		err = fmt.Errorf("check takes no arguments, and found %q", fs.Arg(0))
	case err == nil && f.limit <= 0:
		err = fmt.Errorf("--limit must be longer than nothing, not %s", f.limit)
	}
	if err != nil {
		p.warn(fmt.Sprintf("the hook is set up wrongly, so every call is blocked: %s; fix the command in the harness's settings, see \"cardea check --help\"", plainly(err)))
		return exitDeny
	}
	return newHook(p, f).run()
}

// hook is one run of check.
type hook struct {
	process Process
	flags   checkFlags
	// decide gives the verdict on an event; tests put failures in its place.
	decide   func(*judgement, context.Context) cardea.Verdict
	redactor *redact.Redactor
	begin    time.Time
	// progress is how far the run has come. It is never nil.
	progress atomic.Pointer[progress]
	// unended is the work that an answer need not wait for: the process may
	// end before it, and who uses the same folders after an answer waits.
	unended sync.WaitGroup
}

func newHook(p Process, f checkFlags) *hook {
	p.given = f.settings
	// The wait for a registration leaves time to decide and to answer.
	p.patience = max(0, min(f.limit-time.Second, f.limit*3/4))
	h := &hook{process: p, flags: f, decide: (*judgement).verdict, redactor: redact.New(), begin: p.Now()}
	// A failure before the message is read counts as a message that is no
	// object, since nobody knows whether it was one.
	m := h.wiring().Unread(cardea.NoObject.Trouble("", cardea.CodeUnreadable, "", "no message was read"))
	h.publish(progress{message: m, event: m.Event, fallback: unset})
	return h
}

// wiring is how this hook was installed.
func (h *hook) wiring() harness.Hook {
	return harness.Hook{Harness: h.flags.harness, Unattended: h.flags.unattended || h.process.isSet("CARDEA_UNATTENDED"), Env: h.process.Env, Adapters: adapters()}
}

// answer is the whole way: bytes, message, call, verdict, answer, bytes. After each
// step it publishes how far it is, for the watchdog.
func (h *hook) answer(ctx context.Context) harness.Output {
	raw, err := h.read()
	if len(raw) > longMessage {
		h.process.widen()
		debug.SetGCPercent(400) // the process ends before the memory is needed
	}
	if err != nil {
		return h.answerUnread(h.wiring().Unread(cardea.NoObject.Trouble("", cardea.CodeUnreadable, "", err.Error())))
	}
	m, err := h.wiring().Open(raw)
	if err != nil {
		return harness.Output{Exit: exitDeny, Stderr: []byte("cardea: the hook is set up wrongly, so every call is blocked: " + Plain(err.Error()) + "\n")}
	}
	if m.Unread {
		return h.answerUnread(m)
	}
	p := progress{message: m, event: m.Event, fallback: unset}
	h.publish(p)
	j := newJudgement(h.process, m.Event)
	p.event, p.fallback, p.recorder = j.event, j.loaded.Settings.Fallback(), h.recorderOf(&j.place, j.loaded.Settings.Ledger)
	h.publish(p)
	v, typed := j.carryOut()
	if !typed {
		v = h.decide(j, ctx)
	}
	a := cardea.Express(harmless(v), m.Capabilities(), j.event)
	a.Troubles = slices.Concat(m.Troubles, v.Troubles)
	p.event, p.answer, p.actions = j.event, &a, j.actions(h.redactor, v)
	h.publish(p)
	return h.finish(j, p)
}

// read reads the message.
func (h *hook) read() ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(h.process.Stdin, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("standard input cannot be read: %w", err)
	}
	if len(raw) > maxInput {
		return nil, fmt.Errorf("the message on standard input is larger than %d MiB", maxInput>>20)
	}
	return raw, nil
}

// finish writes down what there is to write, and gives the answer.
func (h *hook) finish(j *judgement, p progress) harness.Output {
	a := *p.answer
	troubles := a.Troubles
	id := ""
	if p.event.Kind.Answered() || a.Decided >= cardea.Ask {
		var problems cardea.Troubles
		id, problems = p.recorder.record(p.event, a, h.late)
		troubles = slices.Concat(troubles, problems)
	}
	trace := j.traced.text(h.redactor.Show)
	if id != "" && j.traced != nil {
		trace += fmt.Sprintf("cardea: recorded; see \"cardea explain %s\"\n", id)
	}
	if err := j.logTrace(trace); err != nil {
		troubles = append(slices.Clip(troubles), cardea.Unwritten.Trouble(j.loaded.LogFile(), cardea.CodeUnwritten, "", err.Error()))
	}
	a.Troubles = j.newTroubles(troubles)
	j.noteCreations(a.Effect, h.begin)
	j.noteActions(p.actions, a.Rewrite)
	if err := errors.Join(j.grantLead(a.Effect), j.recordChecks(a.Effect), j.place.session.Save(h.redactor), j.keep(h.redactor, h.late), j.beat(h.process.Now())); err != nil {
		unwritten := cardea.Unwritten.Trouble("", cardea.CodeUnwritten, "", err.Error())
		troubles, a.Troubles = append(slices.Clip(troubles), unwritten), append(a.Troubles, unwritten)
	}
	out := p.message.Write(p.event, a)
	out.Stderr = append(out.Stderr, remarksFor(out, troubles)...)
	if out.Exit == exitOK && j.debugs() {
		out.Stderr = append(out.Stderr, trace...)
	}
	return out
}

// answerUnread is the answer to a message in which there is nothing to be judged:
// what counts is the setting on_error, and the ledger, of the place where the
// process stands.
func (h *hook) answerUnread(m *harness.Message) harness.Output {
	pl := locate(h.process, "", "", h.process.Dir)
	s := inforce.LoadSettings(h.process.where(&pl))
	p := progress{message: m, event: m.Event, fallback: s.Fallback(), recorder: h.recorderOf(&pl, s.Ledger)}
	a := cardea.Express(m.Verdict(p.fallback), m.Capabilities(), m.Event)
	p.answer = &a
	h.publish(p)
	_, problems := p.recorder.record(p.event, a, h.late)
	return p.write(problems...)
}

// write gives the answer to the harness. Standard output is written once, and first: where
// standard error is closed there is nowhere left to tell, but the answer
// stands. An answer that cannot be delivered must not turn into silence.
func (h *hook) write(out harness.Output) int {
	if h.flags.exitCode {
		out = forScripts(out, h.progress.Load().answer)
	}
	if len(out.Stdout) > 0 {
		if _, err := h.process.Stdout.Write(out.Stdout); err != nil {
			h.process.warn(fmt.Sprintf("the answer could not be written, so the call is blocked: %v", err))
			return exitDeny
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
	case out.Exit != exitOK:
		return out
	case a == nil || a.Effect < cardea.Ask:
		return harness.Output{Stderr: out.Stderr}
	}
	return harness.Output{Exit: exitDeny, Stderr: []byte(plainText(cmp.Or(a.Message, a.Reason, a.Effect.String())) + "\n")}
}

// act starts the actions. The answer is out, so nothing that goes wrong here is
// more than told.
func (h *hook) act() {
	for _, job := range h.progress.Load().actions {
		if err := script.Start(h.process.Program, job); err != nil {
			h.process.warn(err.Error())
		}
	}
}

// remarksFor is what goes to standard error besides the answer. On exit 2 the model
// reads it, and gets the reason alone.
func remarksFor(out harness.Output, troubles cardea.Troubles) []byte {
	if out.Exit != exitOK {
		return nil
	}
	var b bytes.Buffer
	for _, t := range troubles {
		text := plainText(t.Error())
		if !bytes.Contains(out.Stderr, []byte(text)) && !bytes.Contains(b.Bytes(), []byte(text)) {
			fmt.Fprintf(&b, "cardea: %s\n", text)
		}
	}
	return b.Bytes()
}
