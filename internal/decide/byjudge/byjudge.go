// Package byjudge decides calls by the answer of a judge: a model, or the supervisor of a
// team.
//
// A judge reads what the agent wrote, so its answer is worth little. The gate asks it only
// if all earlier deciders left the call to a person. Its allow applies only to parts that
// the judge saw completely, and overrides no other decider. A doubtful answer becomes a
// question to the person, with the answer as recommendation.
package byjudge

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/question"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/redact"
)

// Options configure the decider.
type Options struct {
	// Asker asks the judge.
	Asker judge.Asker
	// About gathers what the judge reads in addition to the call, and returns the issues it
	// met. The decider calls it only when it asks the judge.
	About func(ctx context.Context, ev *cardea.Event) (question.About, cardea.Issues)
	// Redactor removes secrets from everything that is sent.
	Redactor *redact.Redactor
	// Threshold is the least confidence at which an allow or deny applies.
	Threshold float64
	// AllowOpaque lets an allow apply to deferred parts, and to parts that cannot be seen
	// through.
	AllowOpaque bool
}

// Decider is the decider "judge".
type Decider struct {
	about Options
	mu    sync.Mutex
	// asked holds the questions by the address of their call: an event and its call never
	// change.
	asked map[*cardea.Call]*Asked
}

// Asked is a question to the judge and its outcome.
type Asked struct {
	Question question.Question
	About    question.About
	Issues   cardea.Issues
	Answer   judge.Assessment
	Err      error
	// Effect is the effect of the answer on the call. It is Abstain if the judge failed or
	// an allow covers no part.
	Effect cardea.Effect
	// Covers are the indices of the parts that an allow covers.
	Covers []int
	done   chan struct{}
}

// New makes a decider.
func New(s Options) *Decider { return &Decider{about: s, asked: map[*cardea.Call]*Asked{}} }

// Name is the decider's name.
const Name = "judge"

// Rules of the judge's questions: what it recommends with too little confidence. A question
// without a recommendation has no rule.
const (
	RecommendsAllow = "recommends-allow"
	RecommendsDeny  = "recommends-deny"
)

// Name returns "judge".
func (d *Decider) Name() string { return Name }

// reserve is the share of the remaining time that is left for the work after the judge. So
// a judge that does not answer in time fails, and the gate does not.
const reserve = 0.1

// Ask asks the judge about an event's call, once. Standing and said are the effects and
// opinions of the earlier deciders, if they ran.
func (d *Decider) Ask(ctx context.Context, ev *cardea.Event, standing []cardea.Effect, said []cardea.Opinion) *Asked {
	d.mu.Lock()
	a, known := d.asked[ev.Call]
	if !known {
		a = &Asked{done: make(chan struct{})}
		d.asked[ev.Call] = a
	}
	d.mu.Unlock()
	if known {
		<-a.done
		return a
	}
	defer close(a.done)
	if end, limited := ctx.Deadline(); limited {
		sub, cancel := context.WithDeadline(ctx, end.Add(-time.Duration(reserve*float64(time.Until(end)))))
		defer cancel()
		ctx = sub
	}
	if d.about.About != nil {
		a.About, a.Issues = d.about.About(ctx, ev)
	}
	a.About.Standing, a.About.Opinions = standing, said
	a.Question = question.Of(d.about.Redactor, ev, a.About)
	a.Answer, a.Err = d.about.Asker.Ask(ctx, a.Question.Prompt(d.about.Redactor))
	if a.Err == nil {
		a.Err = wellFormed(a.Answer)
	}
	return a
}

// About returns the outcome of asking about a call. It is nil if the judge was not asked or
// has not answered yet.
func (d *Decider) About(c *cardea.Call) *Asked {
	d.mu.Lock()
	a := d.asked[c]
	d.mu.Unlock()
	if a == nil {
		return nil
	}
	select {
	case <-a.done:
		return a
	default:
		return nil // it is still being asked
	}
}

// wellFormed returns an error if an answer is invalid. The asker checks this also, but it
// runs in another process.
func wellFormed(a judge.Assessment) error {
	switch {
	case a.Decision != cardea.Allow && a.Decision != cardea.Deny && a.Decision != cardea.Ask:
		return fmt.Errorf("the judge answered %q, which is none of allow, deny and ask", a.Decision)
	case !(a.Confidence >= 0 && a.Confidence <= 1):
		return fmt.Errorf("the judge's confidence %g is not from 0 to 1", a.Confidence)
	}
	return nil
}

// Decide asks the judge without the opinions of other deciders.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	return d.DecideAfter(ctx, ev, nil, nil)
}

// DecideAfter returns the opinions that follow from the judge's answer. Standing are the
// effects of the parts so far, said the opinions so far.
func (d *Decider) DecideAfter(ctx context.Context, ev *cardea.Event, standing []cardea.Effect, said []cardea.Opinion) ([]cardea.Opinion, error) {
	if ev.Call == nil {
		return nil, nil
	}
	a := d.Ask(ctx, ev, standing, said)
	if a.Err != nil {
		return nil, append(a.Issues, cardea.JudgeFailed.Issue("", diagnostic.CodeNoJudge, "see \"cardea doctor\"", a.Err.Error()))
	}
	opinion := cardea.Opinion{Decider: d.Name(), Part: cardea.WholeCall, Scope: cardea.ScopeUser, Source: a.Answer.Model, Reason: d.reason(a)}
	a.Effect = d.worth(a)
	if a.Effect != cardea.Allow {
		opinion.Effect, opinion.Rule = a.Effect, recommendation(a)
		return []cardea.Opinion{opinion}, a.Issues.Err()
	}
	var out []cardea.Opinion
	for i := range ev.Call.Parts {
		if i < len(standing) && standing[i] == cardea.Allow {
			continue
		}
		lifts, covered := d.covers(ev, i, standing)
		if !covered {
			continue
		}
		o := opinion
		o.Effect, o.Part, o.Lifts = cardea.Allow, i, lifts
		out = append(out, o)
		a.Covers = append(a.Covers, i)
	}
	if len(out) == 0 {
		a.Effect = cardea.Abstain
	}
	return out, a.Issues.Err()
}

// worth returns the effect of an answer. It is ask instead of the decision if the
// confidence is below the threshold. It is also ask for an allow of a call that the judge
// did not see as a whole.
func (d *Decider) worth(a *Asked) cardea.Effect {
	if a.Answer.Decision == cardea.Ask || a.Answer.Confidence < d.about.Threshold || a.Answer.Decision == cardea.Allow && !a.Question.Whole() {
		return cardea.Ask
	}
	return a.Answer.Decision
}

// recommendation returns the rule of a question, "" if the answer recommends nothing.
func recommendation(a *Asked) string {
	switch {
	case a.Effect != cardea.Ask || a.Answer.Decision == cardea.Ask:
		return ""
	case a.Answer.Decision == cardea.Allow:
		return RecommendsAllow
	}
	return RecommendsDeny
}

// covers reports whether an allow applies to a part, and whether it must lift the part from
// defer. It covers a part that cannot be seen through only with AllowOpaque, and never a
// call that leaves the sandbox.
func (d *Decider) covers(ev *cardea.Event, part int, standing []cardea.Effect) (lifts, covered bool) {
	p := &ev.Call.Parts[part]
	deferred := part < len(standing) && standing[part] == cardea.Defer
	unseen := len(p.Opaque) > 0 || p.Coverage != cardea.Complete || len(ev.Call.Opaque) > 0 || len(ev.Faults) > 0 || len(knowledge.Unseen(p)) > 0
	switch {
	case ev.Call.Unsandboxed || part < len(standing) && standing[part] >= cardea.Ask:
		return false, false
	case deferred || unseen:
		return deferred, d.about.AllowOpaque
	}
	return false, true
}

// reason returns the reason shown to the person. It quotes at most maxReason bytes of the
// model's words, on one line.
func (d *Decider) reason(a *Asked) string {
	answer := a.Answer
	said, whole := answer.Reason.Head(maxReason)
	words := said.String()
	if !whole {
		words += "…"
	}
	by := "the judge"
	if answer.Model != "" {
		by += " (" + answer.Model + ")"
	}
	switch {
	case answer.Decision == cardea.Ask:
		return fmt.Sprintf("%s leaves this to you: %s", by, words)
	case answer.Confidence < d.about.Threshold:
		return fmt.Sprintf("%s recommends %s, with confidence %.2f, less than %.2f: %s", by, strings.ToUpper(answer.Decision.String()), answer.Confidence, d.about.Threshold, words)
	case answer.Decision == cardea.Allow && !a.Question.Whole():
		return fmt.Sprintf("%s recommends ALLOW, and did not see all of the call: %s", by, words)
	}
	return fmt.Sprintf("%s, with confidence %.2f: %s", by, answer.Confidence, words)
}

// maxReason is the limit for the model's words in a reason, in bytes.
const maxReason = 400
