package hook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/harness"
)

// This file asks a person in the queue (docs/queue.md). By then the gate has decided and
// has judged its rewrite, so the entry in the queue is exactly the call that would run. A
// person is never asked about a deny or halt.

// timedOut is the text for the model when no person answered in time.
const timedOut = "Permission request timed out — no human response."

// askPerson asks a person in the queue, waits for the answer, and returns the verdict after
// it. If the settings or the verdict leave nothing to ask, it returns v.
func (h *Hook) askPerson(ctx context.Context, j *Evaluation, v cardea.Verdict, p progress) cardea.Verdict {
	can := p.message.Capabilities()
	if h.process.AsPrompt {
		v = asPrompt(v)
	}
	if !j.asksQueue(v, can) {
		return v
	}
	if h.process.Handover != nil {
		h.process.Handover.Note("a person is to be asked")
		return v
	}
	v = withoutUselessRewrite(v, can, j.Event)
	// If this process fails from here on, the watchdog answers as if no person had answered.
	fallback := cardea.Express(Harmless(j.unanswered(v, queueTimedOut, timedOut, 0)), can, j.Event)
	p.event, p.answer = j.Event, &fallback
	h.publish(p)
	begin := time.Now()
	reply, err := j.hold(ctx, v, can, h.Redactor)
	took := time.Since(begin)
	// The rest of the time is for the work that follows the answer.
	used := h.process.Now().Sub(h.begin)
	h.lateAfter.Store(int64(max(h.flags.Limit/2, used+(h.flags.Limit*9/10-used)/2)))
	if err != nil {
		issue := cardea.NoAnswer.Issue("", diagnostic.CodeUnwritten, "see \"cardea doctor\"", "the person could not be asked in the queue: "+err.Error())
		v.Issues = append(slices.Clip(v.Issues), issue)
		return j.unanswered(v, queueFailed, "the person could not be asked: "+err.Error(), took)
	}
	for _, told := range reply.Told {
		v.Issues = append(slices.Clip(v.Issues), cardea.Warning("", diagnostic.CodeIgnored, "", told))
	}
	switch {
	case reply.Answer != nil && reply.Entry != nil && reply.Answer.Effect == cardea.Allow && !reply.Granted && j.changed(v, h.Redactor, reply.Entry):
		return v.ByPerson(byQueue(queueChanged, "a file that this call runs changed while a person looked at it; try it again"), took)
	case reply.Answer != nil && reply.Entry != nil:
		return answered(v, reply.Entry, reply.Answer, took)
	case reply.Entry != nil && reply.Entry.Ticket:
		return v.ByPerson(ticketed(fmt.Sprint(reply.Entry.ID)), took)
	}
	return j.unanswered(v, queueTimedOut, timedOut, took)
}

// changed reports whether the call differs from the entry that was shown, since a file that
// it runs has changed.
func (j *Evaluation) changed(v cardea.Verdict, r *redact.Redactor, shown *queue.Entry) bool {
	now, err := j.QueueEntry(v, r)
	return err != nil || now.Digest != shown.Digest
}

// The rules that verdicts of the queue itself name, for counting verdicts.
const (
	queueTimedOut = "timed-out"
	queueTicket   = "ticket"
	queueFailed   = "failed"
	queueChanged  = "changed"
)

// byQueue returns the denial that the queue itself gives when no person answered.
func byQueue(rule, reason string) cardea.Opinion {
	return cardea.Opinion{Decider: "queue", Rule: rule, Effect: cardea.NoAnswer.Effect(cardea.OnErrorDefer, true), Scope: cardea.ScopeUser, Reason: reason}
}

// answered returns the verdict after a person's answer. The person's message reaches the
// model: as the reason of a denial, or as context of an allow.
func answered(v cardea.Verdict, e *queue.Entry, a *queue.Resolution, took time.Duration) cardea.Verdict {
	v = v.ByPerson(said(*e, *a), took)
	if message := a.Message.String(); message != "" && v.Effect == cardea.Allow {
		v.Context = append(slices.Clip(v.Context), "The person who approved this call says: "+message)
	}
	return v
}

// unheard reports whether a harness has no place for context beside an allow.
func unheard(can cardea.Capabilities, ev *cardea.Event) bool {
	allowed := cardea.Verdict{Effect: cardea.Allow, Person: true, Context: []string{"a message"}}
	return slices.Contains(cardea.Express(allowed, can, ev).Limits, cardea.NoContext)
}

// saidInQueue is the decider of a verdict that a person gave in the queue.
const saidInQueue = "person:queue"

// said returns a person's answer as an opinion.
func said(e queue.Entry, a queue.Resolution) cardea.Opinion {
	reason := fmt.Sprintf("%s, entry %d of the queue", a.Text(), e.ID)
	if message := a.Message.String(); message != "" {
		reason = message + "\n(" + reason + ")"
	}
	return cardea.Opinion{Decider: "person", Rule: "queue", Effect: a.Effect, Scope: cardea.ScopeUser, Reason: reason}
}

// unanswered returns the verdict for a call that no person answered: a denial. In the mode
// "both" it returns v, so that the harness asks.
func (j *Evaluation) unanswered(v cardea.Verdict, rule, why string, took time.Duration) cardea.Verdict {
	if j.Loaded.Settings.Human.Mode == settings.ByBoth && !j.process.AsPrompt {
		v.Stages = append(slices.Clip(v.Stages), cardea.StageRun{Stage: cardea.StageHuman, Ran: took > 0, Took: took})
		return v
	}
	return v.ByPerson(byQueue(rule, why), took)
}

// Waiting is how the queue treats a verdict.
type Waiting string

const (
	// NotQueued is a call about which the queue asks no person.
	NotQueued Waiting = ""
	// WaitsNow is a call that waits in the queue until a person answers.
	WaitsNow Waiting = "now"
	// WaitsAtPrompt is a call that waits only when the harness is about to show its prompt, which
	// is another message. Calls that the harness's own lists allow then run without a question.
	WaitsAtPrompt Waiting = "at the prompt"
	// GetsTicket is a call that is denied with a ticket, since no person can be asked.
	GetsTicket Waiting = "ticket"
)

// Waiting returns how the queue treats a verdict, if there is a queue.
//
// An ask is always queued. An undecided call is queued in the mode "queue", and in the mode
// "both" if the harness would ask.
func (j *Evaluation) Waiting(v cardea.Verdict, can cardea.Capabilities) Waiting {
	s, ev := &j.Loaded.Settings.Human, j.Event
	if !s.Queues() || !ev.Kind.Answered() || ev.Call == nil || j.identity.disabled || harness.AsksPerson(ev.Call) || v.Effect.Stricter(cardea.Ask) || v.Effect == cardea.Allow {
		return NotQueued
	}
	nobody := j.unattended(can)
	atPrompt := ev.Kind == cardea.PreToolUse && sendsPermissionRequest(ev.Harness) && ev.Prompts() && !nobody
	switch {
	case v.Effect == cardea.Ask:
	case s.Mode == settings.ByBoth:
		if ev.Kind != cardea.PermissionRequest && (!ev.Prompts() || nobody) {
			return NotQueued
		}
	case ev.Mode == cardea.ModeAcceptEdits && ev.Call.EditsFiles && v.Effect == cardea.Abstain:
		return NotQueued // the person lets the harness edit files without a question
	}
	switch {
	case atPrompt:
		return WaitsAtPrompt
	case nobody:
		return GetsTicket
	}
	return WaitsNow
}

// Unanswered returns the verdict that applies until a person answers in the queue.
func (j *Evaluation) Unanswered(v cardea.Verdict, can cardea.Capabilities) cardea.Verdict {
	switch j.Waiting(v, can) {
	case WaitsNow:
		return j.unanswered(v, queueTimedOut, timedOut, 0)
	case GetsTicket:
		return v.ByPerson(ticketed("N"), 0)
	}
	return v
}

// ticketed returns the denial of a call that got the ticket with this number.
func ticketed(number string) cardea.Opinion {
	return byQueue(queueTicket, "a person must approve this call, and nobody is asked here: it has ticket "+number+". "+
		"A person can type \"cardea queue approve "+number+"\" in a terminal of their own; the same call then runs once. Until then go on with other work, or stop.")
}

// asksQueue reports whether this process asks a person in the queue about a verdict.
func (j *Evaluation) asksQueue(v cardea.Verdict, can cardea.Capabilities) bool {
	if j.process.AsPrompt {
		return j.process.Queue != nil && j.Event.Call != nil && !harness.AsksPerson(j.Event.Call) && !v.Effect.Stricter(cardea.Ask)
	}
	if j.process.Queue == nil && j.process.Handover == nil {
		return false
	}
	w := j.Waiting(v, can)
	return w == WaitsNow || w == GetsTicket
}

// unattended reports whether no person attends the harness, or it cannot ask. The call is
// then not held but denied, with a ticket.
func (j *Evaluation) unattended(can cardea.Capabilities) bool {
	return j.Event.Attendance == cardea.NobodyAttends ||
		cardea.Express(cardea.Verdict{Effect: cardea.Ask}, can, j.Event).Effect.Stricter(cardea.Ask)
}

// withoutUselessRewrite drops a rewrite that the answer cannot express. The person is then
// asked about the call as it was sent, since that is what would run.
func withoutUselessRewrite(v cardea.Verdict, can cardea.Capabilities, ev *cardea.Event) cardea.Verdict {
	allowed := v
	allowed.Effect, allowed.Person = cardea.Allow, true
	if limits := cardea.Express(allowed, can, ev).Limits; v.Rewrite != nil && (slices.Contains(limits, cardea.NoRewrite) || slices.Contains(limits, cardea.UnwritableRewrite)) {
		v.Rewrite, v.Rewritten = nil, nil
	}
	return v
}

// hold puts a call into the queue. It waits for the person's answer unless the call gets a
// ticket.
func (j *Evaluation) hold(ctx context.Context, v cardea.Verdict, can cardea.Capabilities, r *redact.Redactor) (queue.Reply, error) {
	if j.Place.State == "" {
		return queue.Reply{}, fmt.Errorf("there is no state folder for the queue; set HOME or XDG_STATE_HOME")
	}
	s, now := &j.Loaded.Settings.Human, j.process.Now()
	e, err := j.QueueEntry(v, r)
	if err != nil {
		return queue.Reply{}, err
	}
	end, _ := ctx.Deadline()
	left := time.Until(end)
	settle := min(limit.QueueSettle, left/10)
	left -= settle
	e.Created, e.Validity, e.Ticket, e.Unheard = now.UTC(), s.Ticket, j.unattended(can), unheard(can, j.Event)
	e.Deadline = e.Created.Add(min(s.Timeout, left))
	if e.Ticket {
		e.Deadline = e.Created.Add(limit.Ticket)
	}
	reply, err := j.process.Queue.Ask(ctx, queue.Request{State: j.Place.State, Hold: &e, Left: left + settle/2,
		Notices: queue.Notices{Desktop: s.Notify, Webhook: s.Webhook, Ntfy: s.Ntfy}})
	if err == nil && reply.Failure != "" {
		err = fmt.Errorf("%s", reply.Failure)
	}
	return reply, err
}
