// Package byjudge decides what no rule decides about by the answer of a judge: a model, or
// the supervisor of a team.
//
// A judge reads what the agent wrote, so its answer is worth little. It is asked only
// where everybody before it left the call to a person. Its allow counts for parts of which
// the judge could see everything, and wins over nobody. A doubtful answer is a question to
// the person, with the answer as recommendation.
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
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/redact"
)

// Settings are what the decider is told.
type Settings struct {
	// Asker asks the judge.
	Asker judge.Asker
	// About gathers what the judge is told besides the call, and tells what is wrong with
	// it. It is called when the judge is asked, and not before.
	About func(ctx context.Context, ev *cardea.Event) (question.About, cardea.Troubles)
	// Redactor takes secrets from everything that is sent.
	Redactor *redact.Redactor
	// Threshold is the least confidence with which an allow or deny counts.
	Threshold float64
	// AllowOpaque lets an allow count for parts that are left to a person, and for what
	// cannot be seen through.
	AllowOpaque bool
}

// Decider is the decider "judge".
type Decider struct {
	about Settings
	mu    sync.Mutex
	// asked are the calls that the judge was asked about, by their place in memory: an
	// event and its call never change.
	asked map[*cardea.Call]*Asked
}

// Asked is a question with what came of it.
type Asked struct {
	Question question.Question
	About    question.About
	Troubles cardea.Troubles
	Answer   judge.Answer
	Err      error
	// Effect is what the answer is worth for the call; Abstain where it failed, and where
	// an allow covers no part.
	Effect cardea.Effect
	// Covers are the parts for which an allow counts.
	Covers []int
	done   chan struct{}
}

// New makes a decider.
func New(s Settings) *Decider { return &Decider{about: s, asked: map[*cardea.Call]*Asked{}} }

// Name is the decider's name.
const Name = "judge"

// The rules that a question of the judge names: what it recommends without being sure
// enough. One that leaves the call to the person names none.
const (
	RecommendsAllow = "recommends-allow"
	RecommendsDeny  = "recommends-deny"
)

// Name is "judge".
func (d *Decider) Name() string { return Name }

// reserve is how much of the time that is left is kept for what comes after the judge:
// a judge that does not answer in time failed, and the gate did not.
const reserve = 0.1

// Ask asks the judge about an event's call, once. Standing and said are what the deciders
// before said, if they were asked.
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
		a.About, a.Troubles = d.about.About(ctx, ev)
	}
	a.About.Standing, a.About.Opinions = standing, said
	a.Question = question.Of(d.about.Redactor, ev, a.About)
	a.Answer, a.Err = d.about.Asker.Ask(ctx, a.Question.Prompt(d.about.Redactor))
	if a.Err == nil {
		a.Err = wellFormed(a.Answer)
	}
	return a
}

// About is what came of asking about a call, nil where nobody asked.
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

// wellFormed is the error of an answer that is none. Whoever asks checks this too; it
// stands in another process.
func wellFormed(a judge.Answer) error {
	switch {
	case a.Decision != cardea.Allow && a.Decision != cardea.Deny && a.Decision != cardea.Ask:
		return fmt.Errorf("the judge answered %q, which is none of allow, deny and ask", a.Decision)
	case !(a.Confidence >= 0 && a.Confidence <= 1):
		return fmt.Errorf("the judge's confidence %g is not from 0 to 1", a.Confidence)
	}
	return nil
}

// Decide asks the judge without saying what others decided.
func (d *Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	return d.DecideAfter(ctx, ev, nil, nil)
}

// DecideAfter gives the opinions that follow from the judge's answer. Standing are the
// effects of the parts so far, said what was said about them.
func (d *Decider) DecideAfter(ctx context.Context, ev *cardea.Event, standing []cardea.Effect, said []cardea.Opinion) ([]cardea.Opinion, error) {
	if ev.Call == nil {
		return nil, nil
	}
	a := d.Ask(ctx, ev, standing, said)
	if a.Err != nil {
		return nil, append(a.Troubles, cardea.JudgeFailed.Trouble("", cardea.CodeNoJudge, "see \"cardea doctor\"", a.Err.Error()))
	}
	opinion := cardea.Opinion{Decider: d.Name(), Part: cardea.WholeCall, Scope: cardea.ScopeUser, Source: a.Answer.Model, Reason: d.reason(a)}
	a.Effect = d.worth(a)
	if a.Effect != cardea.Allow {
		opinion.Effect, opinion.Rule = a.Effect, recommendation(a)
		return []cardea.Opinion{opinion}, a.Troubles.Err()
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
	return out, a.Troubles.Err()
}

// worth is what an answer counts as.
func (d *Decider) worth(a *Asked) cardea.Effect {
	if a.Answer.Decision == cardea.Ask || a.Answer.Confidence < d.about.Threshold || a.Answer.Decision == cardea.Allow && !a.Question.Whole() {
		return cardea.Ask
	}
	return a.Answer.Decision
}

// recommendation is the rule of a question that has one.
func recommendation(a *Asked) string {
	switch {
	case a.Effect != cardea.Ask || a.Answer.Decision == cardea.Ask:
		return ""
	case a.Answer.Decision == cardea.Allow:
		return RecommendsAllow
	}
	return RecommendsDeny
}

// covers reports whether an allow counts for a part, and whether it must lift the part
// from defer. What cannot be seen through is covered only where settings say so, and a call
// that leaves the sandbox never.
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

// reason is what the person is told. The model's words are bounded, and of one line.
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

// maxReason bounds the model's words in a reason, in bytes.
const maxReason = 400
