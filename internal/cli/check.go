package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/action"
	"cardea.dev/internal/config"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/install"
	"cardea.dev/internal/redact"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxInput is how much of standard input is read, in bytes. Claude Code
// documents no limit, and what Write sends can be megabytes.
const maxInput = 64 << 20

// checkFlags are the flags of check. They are one set, which the command tree
// shows and the hook parses without the tree.
type checkFlags struct {
	harness    string
	limit      time.Duration
	unattended bool
	settings   []string
}

func (f *checkFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.harness, "harness", "", "the harness that this hook is installed for (default: detected from the message)")
	fs.DurationVar(&f.limit, "limit", install.DefaultLimit, "answer within this time; the harness's own limit must be longer")
	fs.StringArrayVar(&f.settings, "settings", nil, "a settings file that the harness was started with, if its own --settings cannot be seen")
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
		p.warn(fmt.Sprintf("the hook is set up wrongly, so every call is blocked: %v; fix the command in the harness's settings, see \"cardea check --help\"", err))
		return exitDeny
	}
	return newHook(p, f).run()
}

// hook is one run of check.
type hook struct {
	process Process
	flags   checkFlags
	// judge gives the verdict on an event; tests put failures in its place.
	judge    func(*judgement, context.Context) cardea.Verdict
	redactor *redact.Redactor
	begin    time.Time

	mu sync.Mutex
	// What is known so far, for an answer that must be given before this run
	// comes to its end: the message, the setting on_error, and the ledger of
	// the place, nil as long as it is not known.
	message  *harness.Message
	onError  cardea.OnError
	recorder *recorder
	// decided is the verdict, once there is one. From then on it stands,
	// whatever becomes of writing it down.
	decided *decided
	// after are the actions that start when the answer is out.
	after []action.Job

	// unended is the work that an answer need not wait for: the process may
	// end before it, and who uses the same folders after an answer waits.
	unended sync.WaitGroup
}

func newHook(p Process, f checkFlags) *hook {
	p.given = f.settings
	return &hook{process: p, flags: f, judge: (*judgement).verdict, redactor: redact.New(), begin: p.Now(), onError: cardea.OnErrorDefer}
}

// late reports that there is no time left for anything but the answer.
func (h *hook) late() bool { return h.process.Now().Sub(h.begin) > h.flags.limit/2 }

// run answers within the limit, whatever the deciders do. The gate is told to
// come to an end a little earlier, so that what is decided by then stands.
func (h *hook) run() int {
	ctx, cancel := context.WithTimeout(context.Background(), h.flags.limit*8/10)
	defer cancel()
	watchdog := time.NewTimer(h.flags.limit * 9 / 10)
	defer watchdog.Stop()
	answers := make(chan harness.Answer, 1)
	h.unended.Go(func() { answers <- h.guarded(ctx) })
	select {
	case a := <-answers:
		code := h.give(a)
		h.act()
		return code
	case <-watchdog.C:
		return h.give(h.failed(cardea.OutOfTime, fmt.Sprintf("no verdict within %s; look for what is slow with cardea try, or raise --limit together with the harness's time-out",
			h.process.Now().Sub(h.begin).Round(time.Millisecond))))
	}
}

// guarded answers by the failure table where the program itself fails.
func (h *hook) guarded(ctx context.Context) (a harness.Answer) {
	defer func() {
		if r := recover(); r != nil {
			a = h.failed(cardea.Panicked, fmt.Sprintf("internal error: %v; please report it with the output of cardea try", r))
		}
	}()
	return h.answer(ctx)
}

// answer is the whole way from bytes to bytes.
func (h *hook) answer(ctx context.Context) harness.Answer {
	raw, err := io.ReadAll(io.LimitReader(h.process.Stdin, maxInput+1))
	switch {
	case err != nil:
		return h.unread(fmt.Sprintf("standard input cannot be read: %v", err))
	case len(raw) > maxInput:
		return h.unread(fmt.Sprintf("the message on standard input is larger than %d MiB", maxInput>>20))
	}
	m, err := harness.Open(raw, h.flags.harness, h.process.Env, h.process.adapters())
	if err != nil {
		return harness.Answer{Exit: exitDeny, Stderr: []byte("cardea: the hook is set up wrongly, so every call is blocked: " + Plain(err.Error()) + "\n")}
	}
	if m.Event == nil {
		return h.settled(m)
	}
	h.process.attend(m.Event)
	m.Event.Unattended = m.Event.Unattended || h.flags.unattended
	h.learn(func() { h.message = m })
	// The event is judged as a copy: until there is a verdict, the watchdog
	// may have to answer the one that came.
	ev := *m.Event
	if ev.Call != nil {
		call := *ev.Call
		ev.Call = &call
	}
	judged := *m
	judged.Event = &ev
	j := newJudgement(h.process, &ev)
	h.learn(func() {
		h.onError = j.onError()
		if j.loaded != nil {
			h.recorder = h.recorderOf(&j.place, j.loaded.Settings.Ledger)
		}
	})
	v := h.judge(j, ctx)
	judged.Event = j.event
	return h.settle(j, &judged, v)
}

// settle writes down what there is to write, and gives the answer.
func (h *hook) settle(j *judgement, m *harness.Message, v cardea.Verdict) harness.Answer {
	troubles := slices.Concat(m.Troubles, v.Troubles)
	v.Troubles = troubles
	after := j.actions(h.redactor, v)
	h.learn(func() { h.decided, h.after = &decided{m, v}, after })
	id := ""
	if h.recorder != nil && (m.Event.Kind.Answered() || v.Effect >= cardea.Ask) {
		var problem *cardea.Trouble
		if id, problem = h.recorder.record(m.Event, v, h.late); problem != nil {
			troubles = slices.Concat(troubles, []cardea.Trouble{*problem})
		}
	}
	v = j.quiet(v)
	v.Troubles = j.untold(troubles)
	if err := errors.Join(j.note(v), j.place.session.Save(h.redactor), j.keep(h.redactor, h.late), j.beat(h.process.Now())); err != nil {
		unwritten := cardea.Trouble{Failure: cardea.Unwritten, Text: err.Error()}
		troubles, v.Troubles = append(troubles, unwritten), append(v.Troubles, unwritten)
	}
	a := m.Answer(v)
	a.Stderr = append(a.Stderr, aside(a, troubles)...)
	if a.Exit == exitOK {
		a.Stderr = append(a.Stderr, j.traced.text(h.redactor.Show)...)
	}
	if id != "" && a.Exit == exitOK && h.process.says("CARDEA_DEBUG") {
		a.Stderr = fmt.Appendf(a.Stderr, "cardea: recorded; see \"cardea explain %s\"\n", id)
	}
	return a
}

// settled is the answer to a message without an event.
func (h *hook) settled(m *harness.Message) harness.Answer {
	on, r := h.standing()
	v, _ := m.Settled(on)
	h.learn(func() { h.decided, h.recorder = &decided{m, v}, r })
	if h.flags.harness != "" {
		if _, problem := r.record(&cardea.Event{Harness: h.flags.harness}, v, h.late); problem != nil {
			v.Troubles = append(slices.Clone(v.Troubles), *problem)
		}
	}
	return m.Answer(v)
}

// standing is what counts where there is no event to ask about: the setting
// on_error and the ledger of the place where the process stands.
func (h *hook) standing() (cardea.OnError, *recorder) {
	pl := locate(h.process, "", "", h.process.Dir)
	s := config.LoadSettings(h.process.where(&pl))
	return s.OnError, h.recorderOf(&pl, s.Ledger)
}

func (h *hook) learn(what func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	what()
}

// unread is the answer where standard input gave no message.
func (h *hook) unread(text string) harness.Answer {
	on, r := h.standing()
	h.learn(func() { h.onError, h.recorder = on, r })
	return h.failed(cardea.NoObject, text)
}

// failed is the answer of a program that failed: the verdict, if there is one,
// else what the failure table says, in the form of whatever message has been
// read by now.
func (h *hook) failed(f cardea.Failure, text string) harness.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, troubles := h.decided, []cardea.Trouble{{Failure: f, Text: text}}
	if d != nil {
		troubles[0].Text = "the call is decided, but what was to be written down may be missing: " + text
	} else {
		d = h.failure(f, text)
	}
	if problem := h.recordNow(d); problem != nil {
		troubles = append(troubles, *problem)
	}
	return d.answer(troubles...)
}

// failure is the verdict of the failure table. A failure before it was known
// what the message is about counts as a message that is no object, since nobody
// knows whether it was one.
func (h *hook) failure(f cardea.Failure, text string) *decided {
	d := &decided{message: h.message}
	v := &d.verdict
	switch {
	case h.message == nil && h.flags.harness != "":
		v.Effect = cardea.NoObject.Effect(h.onError, true)
	case h.message != nil && h.message.Event.Kind.Answered():
		v.Effect = f.Effect(h.onError, h.message.Event.Attended())
	}
	if v.Effect != cardea.Abstain {
		v.By, v.Reason, v.Message = "failure", text, text
	}
	return d
}

// recordNow writes down what is answered in a hurry, if it is known where. It
// does not look at long texts, and waits no longer than a moment: what was too
// slow may be the ledger's own folder.
func (h *hook) recordNow(d *decided) *cardea.Trouble {
	ev := &cardea.Event{Harness: h.flags.harness}
	if d.message != nil && d.message.Event != nil {
		ev = d.message.Event
	}
	known := ev.Kind.Answered() || ev.Kind == "" && h.flags.harness != ""
	if h.recorder == nil || !known {
		return nil
	}
	done, wait := make(chan *cardea.Trouble, 1), h.flags.limit/20
	h.unended.Go(func() {
		_, problem := h.recorder.record(ev, d.verdict, func() bool { return true })
		done <- problem
	})
	select {
	case problem := <-done:
		return problem
	case <-time.After(wait):
		return &cardea.Trouble{Failure: cardea.Unwritten, Source: h.recorder.dir,
			Text: fmt.Sprintf("the call may not be recorded: the ledger took longer than %s; look at its disk", wait)}
	}
}

// decided is a verdict on a message, nil where none could be read.
type decided struct {
	message *harness.Message
	verdict cardea.Verdict
}

// answer is the verdict in the message's form, and more troubles.
func (d *decided) answer(more ...cardea.Trouble) (a harness.Answer) {
	v := d.verdict
	v.Troubles = slices.Concat(v.Troubles, more)
	if d.message == nil {
		return harness.ByExit(v)
	}
	troubles := v.Troubles
	if ev := d.message.Event; ev != nil && !ev.Kind.Answered() {
		v.Troubles = nil
	}
	// The renderer may be what failed.
	defer func() {
		if recover() != nil {
			a = harness.ByExit(v)
		}
	}()
	a = d.message.Answer(v)
	a.Stderr = append(a.Stderr, aside(a, troubles)...)
	return a
}

// give writes the answer. Standard output is written once, and first: where
// standard error is closed there is nowhere left to tell, but the answer
// stands. An answer that cannot be delivered must not turn into silence.
func (h *hook) give(a harness.Answer) int {
	if len(a.Stdout) > 0 {
		if _, err := h.process.Stdout.Write(a.Stdout); err != nil {
			h.process.warn(fmt.Sprintf("the answer could not be written, so the call is blocked: %v", err))
			return exitDeny
		}
	}
	if len(a.Stderr) > 0 {
		_, _ = h.process.Stderr.Write(a.Stderr)
	}
	return a.Exit
}

// act starts the actions. The answer is out, so nothing that goes wrong here is
// more than told.
func (h *hook) act() {
	h.mu.Lock()
	after := h.after
	h.mu.Unlock()
	for _, job := range after {
		if err := action.Start(h.process.Program, job); err != nil {
			h.process.warn(err.Error())
		}
	}
}

// aside is what goes to standard error besides the answer. On exit 2 the model
// reads it, and gets the reason alone.
func aside(a harness.Answer, troubles []cardea.Trouble) []byte {
	if a.Exit != exitOK {
		return nil
	}
	var b bytes.Buffer
	for _, t := range troubles {
		text := plainText(t.Text)
		if !bytes.Contains(a.Stderr, []byte(text)) && !bytes.Contains(b.Bytes(), []byte(text)) {
			fmt.Fprintf(&b, "cardea: %s\n", text)
		}
	}
	return b.Bytes()
}
