package evaluation

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

// Judge is who is asked about all cases.
type Judge struct {
	// Asker asks; nil: only what is recorded counts.
	Asker judge.Asker
	// Name is who is asked, for the cassette: the same question to another provider has
	// another answer.
	Name string
	// Cassette has recorded answers, and takes new ones; nil: none.
	Cassette *Cassette
	// Role gives the definition of a role.
	Role func(name string) question.Role
	// Redactor takes secrets from what is sent.
	Redactor *redact.Redactor
	// Session is the session for the budget.
	Session string
	// Each is told how many cases are done; nil tells nobody.
	Each func(done int)
}

// ErrNotRecorded is that of a case whose answer is not recorded, where nobody is asked.
var ErrNotRecorded = errors.New("no answer is recorded, and no provider is asked; switch the judge on or name one with --provider")

// atOnce is how many cases are asked about at the same time.
const atOnce = 4

// Run asks about all cases, in any order, and gives the results in theirs.
func (j Judge) Run(ctx context.Context, cases []Case) []Result {
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

func (j Judge) one(ctx context.Context, c Case) (r Result) {
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
