package hook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/base/stack"
	"cardea.dev/internal/harness"
)

// progress is how far a run has come, for an answer that must be given before the
// run comes to its end. Each step of the run publishes a new value, which nobody
// changes.
type progress struct {
	message *harness.Message
	event   *cardea.Event
	// fallback is what counts without a verdict, [unset] as long as no settings are
	// known.
	fallback cardea.Fallback
	// recorder is nil as long as it is not known where the ledger is.
	recorder *recorder
	// answer is nil as long as nothing is decided. From then on it stands,
	// whatever becomes of writing it down.
	answer *cardea.Answer
	// actions start when the answer is out.
	actions []script.Action
	// stale gives the projects whose index of lessons is to be made again then.
	stale func() []string
	// daemon is the daemon that is to run after this call; nil: none need.
	daemon *daemonWanted
	// keep keeps what the judge decided; nil: nothing is to be kept.
	keep func() error
}

// unset is what counts where no settings were read.
var unset = cardea.Fallback{OnError: cardea.OnErrorDefer}

// late reports that there is no time left for anything but the answer.
func (h *Hook) late() bool { return h.process.Now().Sub(h.begin) > time.Duration(h.lateAfter.Load()) }

// Run answers within the limit, whatever the deciders do. The gate is told to
// come to an end a little earlier, so that what is decided by then stands.
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

// guarded answers by the failure table where the program itself fails.
func (h *Hook) guarded(ctx context.Context) (out harness.Output) {
	defer func() {
		if r := recover(); r != nil {
			out = h.fail(cardea.Panicked, fmt.Sprintf("internal error: %v; please report it with the output of cardea try", r))
		}
	}()
	return h.answer(ctx)
}

func (h *Hook) publish(p progress) { h.progress.Store(&p) }

// fail is the answer of a program that failed: what was decided, if anything was,
// else what the failure table says, in the form of whatever message has been read
// by now.
func (h *Hook) fail(f cardea.Failure, text string) harness.Output {
	p := *h.progress.Load()
	code := cardea.CodeInternal
	if f == cardea.OutOfTime {
		code = cardea.CodeOutOfTime
	}
	trouble := f.Trouble("", code, "", text)
	if p.answer != nil {
		trouble.Diagnostic.Text = "the call is decided, but what was to be written down may be missing: " + text
	} else {
		a := cardea.Express(p.failure(f, text), p.message.Capabilities(), p.event)
		p.answer = &a
		h.publish(p)
	}
	return p.write(append(cardea.Troubles{trouble}, h.recordNow(p)...)...)
}

// failure is the verdict of the failure table.
func (p *progress) failure(f cardea.Failure, text string) cardea.Verdict {
	switch {
	case p.message.Unread && p.event.Harness != "":
		return p.fallback.Failed(cardea.NoObject, p.event.Attended(), text)
	case p.event.Kind.Answered():
		return p.fallback.Failed(f, p.event.Attended(), text)
	}
	return cardea.Verdict{}
}

// recordNow writes down what is answered in a hurry, if it is known where. It
// does not look at long texts, and waits no longer than a moment: what was too
// slow may be the ledger's own folder.
func (h *Hook) recordNow(p progress) cardea.Troubles {
	known := p.event.Kind.Answered() || p.event.Kind == "" && h.flags.Harness != ""
	if p.recorder == nil || !known {
		return nil
	}
	done, wait := make(chan cardea.Troubles, 1), h.flags.Limit/20
	h.Unended.Go(func() {
		_, problems := p.recorder.record(p.event, *p.answer, func() bool { return true })
		done <- problems
	})
	select {
	case problems := <-done:
		return problems
	case <-time.After(wait):
		return cardea.Troubles{cardea.Unwritten.Trouble(p.recorder.dir, cardea.CodeUnwritten, "look at its disk",
			fmt.Sprintf("the call may not be recorded: the ledger took longer than %s", wait))}
	}
}

// write gives the answer as it stands, and tells more troubles.
func (p progress) write(more ...cardea.Trouble) (out harness.Output) {
	a := *p.answer
	a.Troubles = slices.Concat(a.Troubles, more)
	troubles := a.Troubles
	if !p.message.Unread && !p.event.Kind.Answered() {
		a.Troubles = nil // only answers to tool events reach the person
	}
	// The renderer may be what failed.
	defer func() {
		if recover() != nil {
			out = harness.ByExit(a)
		}
	}()
	out = p.message.Write(p.event, a)
	out.Stderr = append(out.Stderr, remarksFor(out, troubles)...)
	return out
}
