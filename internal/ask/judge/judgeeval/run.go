package judgeeval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/question"
	"cardea.dev/internal/command/redact"
)

// Subject is who is asked about all cases.
type Subject struct {
	// Asker asks the judge; with nil, only recorded answers are used.
	Asker judge.Asker
	// Name identifies the judge in the cassette: another provider gives another answer to the same
	// question.
	Name string
	// Cassette has recorded answers, and records new ones; nil for none.
	Cassette *Cassette
	// AgentRole gives the definition of a role.
	Role func(name string) question.AgentRole
	// Redactor removes secrets from the questions.
	Redactor *redact.Redactor
	// Session identifies the session to which the budget belongs.
	Session string
	// Each is called with the number of finished cases; it may be nil.
	Each func(done int)
}

// ErrNotRecorded is the error of a case without a recorded answer, if no provider is asked.
var ErrNotRecorded = errors.New("no answer is recorded, and no provider is asked; switch the judge on or name one with --provider")

// atOnce is the number of cases that are asked about at the same time.
const atOnce = 4

// Run asks about all cases, and returns the results in the order of the cases.
func (j Subject) Run(ctx context.Context, cases []Case) []Result {
	out := make([]Result, len(cases))
	work := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(atOnce, len(cases)) {
		wait.Go(func() {
			for i := range work {
				out[i] = j.one(ctx, cases[i])
				mu.Lock()
				if done++; j.Each != nil {
					j.Each(done)
				}
				mu.Unlock()
			}
		})
	}
	for i := range cases {
		work <- i
	}
	close(work)
	wait.Wait()
	return out
}

// one asks about one case, or replays its recorded answer.
func (j Subject) one(ctx context.Context, c Case) (r Result) {
	q := question.Of(j.Redactor, c.Event(), c.About(j.Role))
	p := q.Prompt(j.Redactor)
	p.Session = j.Session
	r.Case, r.Whole = c, q.Whole()
	if a, there := j.Cassette.replay(j.Name, p); there {
		r.Answer, r.Replayed = a, true
		return r
	}
	if j.Asker == nil {
		r.Err = ErrNotRecorded
		return r
	}
	if r.Err = ctx.Err(); r.Err != nil {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r.Answer, r.Err = j.Asker.Ask(ctx, p)
	if d := r.Answer.Decision; r.Err == nil && (d != cardea.Allow && d != cardea.Ask && d != cardea.Deny || !(r.Answer.Confidence >= 0 && r.Answer.Confidence <= 1)) {
		r.Err = fmt.Errorf("the answer %q is none", d)
	}
	if r.Err == nil {
		j.Cassette.record(j.Name, c.ID, p, r.Answer)
	}
	return r
}
