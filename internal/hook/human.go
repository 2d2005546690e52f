package hook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/harness"
)

// This file asks a person in the queue (docs/queue.md). The gate has decided, and its
// rewrite is judged: what waits is exactly the call that would run. A deny or halt is
// never asked about.

// timedOut is what the model is told when nobody answered.
const timedOut = "Permission request timed out — no human response."

// askPerson is the verdict after a person was asked in the queue, where the settings say
// so and the verdict leaves something to ask. It waits for them.
func (h *Hook) askPerson(ctx context.Context, j *Judgement, v cardea.Verdict, p progress) cardea.Verdict {
	can := p.message.Capabilities()
	if h.process.AsPrompt {
		v = asPrompt(v)
	}
	if !j.asksQueue(v, can) {
		return v
	}
	if h.process.Elsewhere != nil {
		h.process.Elsewhere.Note("a person is to be asked")
		return v
	}
	v = withoutUselessRewrite(v, can, j.Event)
	// Whatever becomes of this process, the call is answered as if nobody had answered.
	fallback := cardea.Express(Harmless(j.unanswered(v, queueTimedOut, timedOut, 0)), can, j.Event)
	p.event, p.answer = j.Event, &fallback
	h.publish(p)
	begin := time.Now()
	reply, err := j.hold(ctx, v, can, h.Redactor)
	took := time.Since(begin)
	// What is left is for what follows the answer.
	used := h.process.Now().Sub(h.begin)
	h.lateAfter.Store(int64(max(h.flags.Limit/2, used+(h.flags.Limit*9/10-used)/2)))
	if err != nil {
		trouble := cardea.NoAnswer.Trouble("", cardea.CodeUnwritten, "see \"cardea doctor\"", "the person could not be asked in the queue: "+err.Error())
		v.Troubles = append(slices.Clip(v.Troubles), trouble)
		return j.unanswered(v, queueFailed, "the person could not be asked: "+err.Error(), took)
	}
	for _, told := range reply.Told {
		v.Troubles = append(slices.Clip(v.Troubles), cardea.Warning("", cardea.CodeIgnored, "", told))
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

// changed reports whether a call is another one than the one that was shown: a file that
// it runs has changed since.
func (j *Judgement) changed(v cardea.Verdict, r *redact.Redactor, shown *queue.Entry) bool {
	now, err := j.QueueEntry(v, r)
	return err != nil || now.Digest != shown.Digest
}

// The rules of what the queue itself says, for who counts verdicts.
const (
	queueTimedOut = "timed-out"
	queueTicket   = "ticket"
	queueFailed   = "failed"
	queueChanged  = "changed"
)

// byQueue is a denial of the queue itself, where no person answered.
func byQueue(rule, reason string) cardea.Opinion {
	return cardea.Opinion{Decider: "queue", Rule: rule, Effect: cardea.NoAnswer.Effect(cardea.OnErrorDefer, true), Scope: cardea.ScopeUser, Reason: reason}
}

// answered is the verdict after a person's answer. Their message reaches the model: with a
// denial as its reason, with an allow as context.
func answered(v cardea.Verdict, e *queue.Entry, a *queue.Answer, took time.Duration) cardea.Verdict {
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

// saidInQueue is who made the effect of a call that a person answered in the queue.
const saidInQueue = "person:queue"

// said is a person's answer as an opinion.
func said(e queue.Entry, a queue.Answer) cardea.Opinion {
	reason := fmt.Sprintf("%s, entry %d of the queue", a.Text(), e.ID)
	if message := a.Message.String(); message != "" {
		reason = message + "\n(" + reason + ")"
	}
	return cardea.Opinion{Decider: "person", Rule: "queue", Effect: a.Effect, Scope: cardea.ScopeUser, Reason: reason}
}

// unanswered is the verdict where no person answered: a denial, or in the mode both what
// it is, so that the harness asks.
func (j *Judgement) unanswered(v cardea.Verdict, rule, why string, took time.Duration) cardea.Verdict {
	if j.Loaded.Settings.Human.Mode == settings.ByBoth && !j.process.AsPrompt {
		v.Stages = append(slices.Clip(v.Stages), cardea.StageRun{Stage: cardea.StageHuman, Ran: took > 0, Took: took})
		return v
	}
	return v.ByPerson(byQueue(rule, why), took)
}

// Waiting is what the queue makes of a verdict.
type Waiting string

const (
	// NotQueued is a call about which nobody is asked in the queue.
	NotQueued Waiting = ""
	// WaitsNow is one that waits in the queue until a person answers.
	WaitsNow Waiting = "now"
	// WaitsAtPrompt is one that waits there when the harness is about to show its prompt,
	// which is another message: what the harness's own lists allow then runs without a question.
	WaitsAtPrompt Waiting = "at the prompt"
	// GetsTicket is one that is denied with a ticket, since nobody can be asked.
	GetsTicket Waiting = "ticket"
)

// Waiting is what the queue makes of a verdict, where there is one.
//
// An ask always is for the queue. What nobody decided is in the mode queue, and in the mode
// both where the harness would ask.
func (j *Judgement) Waiting(v cardea.Verdict, can cardea.Capabilities) Waiting {
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
		return NotQueued // the person lets their harness edit files by itself
	}
	switch {
	case atPrompt:
		return WaitsAtPrompt
	case nobody:
		return GetsTicket
	}
	return WaitsNow
}

// Unanswered is the verdict as long as no person has answered in the queue.
func (j *Judgement) Unanswered(v cardea.Verdict, can cardea.Capabilities) cardea.Verdict {
	switch j.Waiting(v, can) {
	case WaitsNow:
		return j.unanswered(v, queueTimedOut, timedOut, 0)
	case GetsTicket:
		return v.ByPerson(ticketed("N"), 0)
	}
	return v
}

// ticketed is the denial of a call that got a ticket, by its number.
func ticketed(number string) cardea.Opinion {
	return byQueue(queueTicket, "a person must approve this call, and nobody is asked here: it has ticket "+number+". "+
		"A person can type \"cardea queue approve "+number+"\" in a terminal of their own; the same call then runs once. Until then go on with other work, or stop.")
}

// asksQueue reports whether a verdict is for a person in the queue, in this process.
func (j *Judgement) asksQueue(v cardea.Verdict, can cardea.Capabilities) bool {
	if j.process.AsPrompt {
		return j.process.Queue != nil && j.Event.Call != nil && !harness.AsksPerson(j.Event.Call) && !v.Effect.Stricter(cardea.Ask)
	}
	if j.process.Queue == nil && j.process.Elsewhere == nil {
		return false
	}
	w := j.Waiting(v, can)
	return w == WaitsNow || w == GetsTicket
}

// unattended reports whether nobody sits in front of the harness, or it cannot ask: then
// the call is not held back but denied, with a ticket.
func (j *Judgement) unattended(can cardea.Capabilities) bool {
	return j.Event.Attendance == cardea.NobodyAttends ||
		cardea.Express(cardea.Verdict{Effect: cardea.Ask}, can, j.Event).Effect.Stricter(cardea.Ask)
}

// withoutUselessRewrite drops a rewrite that the harness cannot be told: what the person
// is asked about is then the call as it was sent, since that is what would run.
func withoutUselessRewrite(v cardea.Verdict, can cardea.Capabilities, ev *cardea.Event) cardea.Verdict {
	allowed := v
	allowed.Effect, allowed.Person = cardea.Allow, true
	if limits := cardea.Express(allowed, can, ev).Limits; v.Rewrite != nil && (slices.Contains(limits, cardea.NoRewrite) || slices.Contains(limits, cardea.UnwritableRewrite)) {
		v.Rewrite, v.Rewritten = nil, nil
	}
	return v
}

// hold puts a call into the queue, and waits for the person's answer unless it gets a
// ticket.
func (j *Judgement) hold(ctx context.Context, v cardea.Verdict, can cardea.Capabilities, r *redact.Redactor) (queue.Reply, error) {
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
