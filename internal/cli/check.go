package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	// maxInput is how much of standard input is read, in bytes. Claude Code
	// documents no limit, and what Write sends can be megabytes.
	maxInput = 64 << 20
	// defaultLimit is the time that check takes at most where nobody says.
	defaultLimit = 10 * time.Second
)

// checkFlags are the flags of check. They are one set, which the command tree
// shows and the hook parses without the tree.
type checkFlags struct {
	harness    string
	limit      time.Duration
	unattended bool
}

func (f *checkFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.harness, "harness", "", "the harness that this hook is installed for (default: told by the message)")
	fs.DurationVar(&f.limit, "limit", defaultLimit, "the time within which to answer; the harness's own must not be shorter")
	fs.BoolVar(&f.unattended, "unattended", false, "nobody watches this agent, as CARDEA_UNATTENDED=1 says")
}

func checkCommand(p Process) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [--harness H] [--limit D]",
		Short: "judge the call on standard input: the hook",
		Long: `Judge the hook message on standard input and answer in the harness's form.

This is what harnesses start for every tool call. To learn what it would say,
and why, use "cardea try". It writes nothing but one JSON object to standard
output, and what a person must learn of to standard error.`,
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
		p.warn(fmt.Sprintf("the hook is set up wrongly, so every call is blocked: %v; mend the command in the harness's settings, see \"cardea check --help\"", err))
		return exitDeny
	}
	return newHook(p, f).run()
}

// hook is one run of check.
type hook struct {
	process Process
	flags   checkFlags
	// judge gives the verdict on an event; tests put failures in its place.
	judge func(*judgement, context.Context) cardea.Verdict

	mu sync.Mutex
	// message and onError are what is known so far, for an answer that must be
	// given before the verdict is there.
	message *harness.Message
	onError cardea.OnError
}

func newHook(p Process, f checkFlags) *hook {
	return &hook{process: p, flags: f, judge: (*judgement).verdict, onError: cardea.OnErrorDefer}
}

// run answers within the limit, whatever the deciders do. The gate is told to
// come to an end a little earlier, so that what is decided by then stands.
func (h *hook) run() int {
	begin := h.process.Now()
	ctx, cancel := context.WithTimeout(context.Background(), h.flags.limit*8/10)
	defer cancel()
	watchdog := time.NewTimer(h.flags.limit * 9 / 10)
	defer watchdog.Stop()
	answers := make(chan harness.Answer, 1)
	go func() { answers <- h.guarded(ctx) }()
	select {
	case a := <-answers:
		return h.give(a)
	case <-watchdog.C:
		return h.give(h.failed(cardea.OutOfTime, fmt.Sprintf("no verdict within %s; look for what is slow with cardea try, or raise --limit together with the harness's time-out",
			h.process.Now().Sub(begin).Round(time.Millisecond))))
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
		v, _ := m.Settled(onErrorOf(h.process))
		return m.Answer(v)
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
	j := newJudgement(h.process, &ev)
	h.learn(func() { h.onError = j.onError() })
	v := h.judge(j, ctx)
	troubles := append(m.Troubles, v.Troubles...)
	v.Troubles = j.untold(troubles)
	if err := errors.Join(j.place.session.Save(), j.keep(), j.beat(h.process.Now())); err != nil {
		unwritten := cardea.Trouble{Failure: cardea.Unwritten, Text: err.Error()}
		troubles, v.Troubles = append(troubles, unwritten), append(v.Troubles, unwritten)
	}
	judged := *m
	judged.Event = &ev
	a := judged.Answer(v)
	a.Stderr = append(a.Stderr, aside(a, troubles)...)
	return a
}

func (h *hook) learn(what func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	what()
}

// unread is the answer where standard input gave no message.
func (h *hook) unread(text string) harness.Answer {
	h.learn(func() { h.onError = onErrorOf(h.process) })
	return h.failed(cardea.NoObject, text)
}

// failed is what the failure table says, in the form of whatever message has
// been read by now. A failure before it was known what the message is about
// counts as a message that is no object, since nobody knows whether it was one.
func (h *hook) failed(f cardea.Failure, text string) (a harness.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	troubles := []cardea.Trouble{{Failure: f, Text: text}}
	v := cardea.Verdict{}
	switch {
	case h.message == nil && h.flags.harness != "":
		v.Effect = cardea.NoObject.Effect(h.onError, true)
	case h.message != nil && h.message.Event.Kind.Answered():
		v.Effect = f.Effect(h.onError, h.message.Event.Attended())
	}
	if v.Effect != cardea.Abstain {
		v.By, v.Reason, v.Message = "failure", text, text
	}
	if h.message == nil {
		v.Troubles = troubles
		return harness.ByExit(v)
	}
	if h.message.Event.Kind.Answered() {
		v.Troubles = troubles
	}
	// The renderer may be what failed.
	defer func() {
		if recover() != nil {
			a = harness.ByExit(v)
		}
	}()
	a = h.message.Answer(v)
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
