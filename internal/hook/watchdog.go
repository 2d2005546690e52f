package hook

import (
	"fmt"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/harness"
)

// progress is how far a run has come, for an answer that must be given before the run ends.
// Each step publishes a new value. Published values do not change.
type progress struct {
	message *harness.Message
	event   *cardea.Event
	// fallback applies without a verdict. It is [unset] until the settings are read.
	fallback cardea.Fallback
	// recorder is nil until the ledger's folder is known.
	recorder *recorder
	// answer is nil until the call is decided. From then on it is final, even if recording it
	// fails.
	answer *cardea.Answer
	// actions start when the answer is out.
	actions []script.Action
	// stale returns the projects whose index of lessons must then be rebuilt.
	stale func() []string
	// daemon is the daemon to start after this call, or nil.
	daemon *daemonWanted
	// keep saves the judge's decision. It may be nil.
	keep func() error
}

// unset is the fallback when no settings were read.
var unset = cardea.Fallback{OnError: cardea.OnErrorDefer}

// late reports whether only the answer may still be written.
func (h *Hook) late() bool { return h.process.Now().Sub(h.begin) > time.Duration(h.lateAfter.Load()) }

func (h *Hook) publish(p progress) { h.progress.Store(&p) }

// fail returns the answer of a failed run: the decision if there is one, else that of the
// failure table. Its form is that of the message, as far as it was read.
func (h *Hook) fail(f cardea.Failure, text string) harness.Output {
	p := *h.progress.Load()
	code := diagnostic.CodeInternal
	if f == cardea.OutOfTime {
		code = diagnostic.CodeOutOfTime
	}
	issue := f.Issue("", code, "", text)
	if p.answer != nil {
		issue.Diagnostic.Text = "the call is decided, but what was to be written down may be missing: " + text
	} else {
		a := cardea.Express(p.failure(f, text), p.message.Capabilities(), p.event)
		p.answer = &a
		h.publish(p)
	}
	return p.write(append(cardea.Issues{issue}, h.recordNow(p)...)...)
}

// failure returns the verdict of the failure table.
func (p *progress) failure(f cardea.Failure, text string) cardea.Verdict {
	switch {
	case p.message.Unread && p.event.Harness != "":
		return p.fallback.Failed(cardea.NoObject, p.event.Attended(), text)
	case p.event.Kind.Answered():
		return p.fallback.Failed(f, p.event.Attended(), text)
	}
	return cardea.Verdict{}
}

// recordNow records the answer quickly, if the ledger's folder is known. It skips long
// texts and waits only a moment, since the slow part may be the ledger's own folder.
func (h *Hook) recordNow(p progress) cardea.Issues {
	known := p.event.Kind.Answered() || p.event.Kind == "" && h.flags.Harness != ""
	if p.recorder == nil || !known {
		return nil
	}
	done, wait := make(chan cardea.Issues, 1), h.flags.Limit/20
	h.Unended.Go(func() {
		_, problems := p.recorder.record(p.event, *p.answer, func() bool { return true })
		done <- problems
	})
	select {
	case problems := <-done:
		return problems
	case <-time.After(wait):
		return cardea.Issues{cardea.Unwritten.Issue(p.recorder.dir, diagnostic.CodeUnwritten, "look at its disk",
			fmt.Sprintf("the call may not be recorded: the ledger took longer than %s", wait))}
	}
}

// write returns the output for the answer, with more problems added.
func (p progress) write(more ...cardea.Issue) (out harness.Output) {
	a := *p.answer
	a.Issues = slices.Concat(a.Issues, more)
	issues := a.Issues
	if !p.message.Unread && !p.event.Kind.Answered() {
		a.Issues = nil // only answers to tool events reach the person
	}
	// The rendering may be what failed.
	defer func() {
		if recover() != nil {
			out = harness.ByExit(a)
		}
	}()
	out = p.message.Write(p.event, a)
	out.Stderr = append(out.Stderr, remarksFor(out, issues)...)
	return out
}
