// Package provider asks language models over HTTP: Anthropic, OpenAI, GitHub Models, Ollama, and
// all endpoints with OpenAI's API. It is part of cardea-engine, so that the hook's program does not
// link HTTP.
//
// A [Chain] asks one provider after another until one answers. An answer in another form than
// requested is a failure, and the next provider is asked, as long as there is time. Nothing is
// sent, and no command for a key is run, before [Chain.Ask] is called.
//
// A key is sent to the configured endpoint alone, over TLS or to this machine. Redirects are not
// followed. Reports of a failure contain no key and no text of the provider.
package provider

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/usage"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/command/redact"
)

// Machine holds the facts about the machine that a chain uses.
type Machine struct {
	// Environ is the environment as os.Environ returns it. Keys are looked up in it, and commands
	// for keys get it.
	Environ []string
	// Dir is the folder in which commands for keys run, outside of the project.
	Dir string
	// Project is the folder of the call's project, or "". Programs in it are not found by name.
	Project string
	// Proxy returns the proxy of a request; with nil, there is no proxy.
	Proxy func(*http.Request) (*url.URL, error)
	// Book records spending and failures.
	Book *usage.Book
	// Now returns the time.
	Now func() time.Time
}

// Chain asks providers in order. It is safe for concurrent use.
type Chain struct {
	config   judge.Config
	machine  Machine
	keys     *keys
	client   *http.Client
	redactor *redact.Redactor
}

// New returns a chain, without contacting any provider.
func New(c judge.Config, m Machine) *Chain {
	return &Chain{config: c, machine: m, keys: newKeys(m), client: NewClient(m.Proxy), redactor: redact.New()}
}

// Ask asks one provider after another. It returns by the deadline of ctx, and at the latest after
// [limit.Judge].
func (c *Chain) Ask(ctx context.Context, q judge.Question) (judge.Assessment, error) {
	if err := c.config.Usable(); err != nil {
		return judge.Assessment{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit.Judge)
	defer cancel()
	work, done := reserve(ctx)
	defer done()
	defer c.client.CloseIdleConnections()
	var failed []judge.Attempt
	for _, p := range c.config.Providers() {
		if work.Err() != nil {
			failed = append(failed, judge.Attempt{Provider: p.Type, Model: p.Model, Cause: judge.TimedOut, Why: "there was no time left to ask it"})
			continue
		}
		a, err := c.ask(ctx, work, p, q)
		if err == nil {
			a.Failed = failed
			return a, nil
		}
		failed = append(failed, attempt(p, err))
	}
	return judge.Assessment{}, &judge.Failure{Attempts: failed}
}

// reserve returns the context of the request itself. It ends earlier than ctx, so that the cost can
// be recorded in time.
func reserve(ctx context.Context) (context.Context, context.CancelFunc) {
	end, _ := ctx.Deadline()
	left := time.Until(end)
	return context.WithDeadline(ctx, end.Add(-min(limit.JudgeSettle, left/5)))
}

// ask asks one provider.
func (c *Chain) ask(ctx, work context.Context, p judge.Provider, q judge.Question) (judge.Assessment, error) {
	api, err := apiOf(p)
	if err != nil {
		return judge.Assessment{}, &providerError{cause: judge.Misconfigured, why: err.Error()}
	}
	if err := c.keys.possible(p); err != nil {
		return judge.Assessment{}, err
	}
	body, err := api.question(p, q)
	if err != nil {
		return judge.Assessment{}, &providerError{cause: judge.Misconfigured, why: "the question cannot be written as JSON"}
	}
	price, priced := c.config.Price(p)
	most := bound(body)
	claim, err := c.machine.Book.Begin(work, usage.Request{Provider: p, Session: q.Session, Tokens: most + p.MaxTokens, Cost: price.Of(most, p.MaxTokens), Priced: priced}, c.config.Budget)
	if err != nil {
		return judge.Assessment{}, notBegun(err)
	}
	begin := time.Now()
	limited, cancel := context.WithTimeout(work, p.Timeout)
	defer cancel()
	r, err := c.send(work, limited, api, p, body)
	cost := price.Of(r.in, r.out)
	outcome := usage.Outcome{Known: r.counted, Tokens: r.in + r.out, Cost: cost, Health: usage.Alive}
	var a judge.Assessment
	if err == nil {
		if a, err = judge.ParseAnswer(r.text, c.redactor); err != nil {
			err = &providerError{cause: judge.Malformed, why: err.Error(), alive: true}
		}
	}
	if err != nil {
		outcome = failedOutcome(outcome, err, work.Err() != nil)
	}
	// The answer is valid even if its cost cannot be recorded: the claimed amount stays spent.
	_ = claim.End(ctx, outcome)
	if err != nil {
		return judge.Assessment{}, err
	}
	a.Provider, a.Model, a.Took = p.Type, p.Model, time.Since(begin)
	a.TokensIn, a.TokensOut, a.Cost, a.Priced = r.in, r.out, cost, priced
	return a, nil
}

// send gets the key, and sends a question.
func (c *Chain) send(work, limited context.Context, api api, p judge.Provider, body []byte) (reply, error) {
	key, err := c.keys.get(work, p)
	if err != nil {
		return reply{}, err
	}
	data, err := c.do(limited, httpCall{method: http.MethodPost, url: p.Endpoint + api.path, body: body, key: key, api: api})
	if err != nil {
		return reply{}, err
	}
	return api.read(data)
}

// overhead is the number of tokens that a provider may add to a request, for tools and the frame of
// a conversation.
const overhead = 1000

// bound returns the largest possible number of tokens in a request: a token has at least one byte.
func bound(body []byte) int { return len(body) + overhead }

// providerError is the error of one provider.
type providerError struct {
	cause judge.Cause
	why   string
	// unsent is set where the provider was not reached, free where it was reached and charged
	// nothing, alive where the provider itself works.
	unsent, free, alive bool
	retryAfter          time.Duration
}

// Error returns the reason, for people.
func (f *providerError) Error() string { return f.why }

// failedOutcome returns the outcome of a request that failed. early is set where it was given up
// before the provider's own timeout.
func failedOutcome(o usage.Outcome, err error, early bool) usage.Outcome {
	var f *providerError
	if !errors.As(err, &f) {
		f = &providerError{}
	}
	o.Unsent, o.RetryAfter = f.unsent, f.retryAfter
	if f.free {
		o.Known, o.Tokens, o.Cost = true, 0, 0
	}
	switch {
	case f.alive:
	case early && f.cause == judge.TimedOut:
		o.Health = usage.Unclear
	default:
		o.Health = usage.Failed
	}
	return o
}

// notBegun returns the failure of a request that was not sent.
func notBegun(err error) error {
	var paused *usage.PausedError
	var spent *usage.SpentError
	switch {
	case errors.As(err, &paused):
		return &providerError{cause: judge.Paused, why: paused.Error()}
	case errors.As(err, &spent):
		return &providerError{cause: judge.Spent, why: spent.Error()}
	}
	return &providerError{cause: judge.Spent, why: err.Error()}
}

func attempt(p judge.Provider, err error) judge.Attempt {
	a := judge.Attempt{Provider: p.Type, Model: p.Model, Cause: judge.Malformed, Why: err.Error()}
	var f *providerError
	if errors.As(err, &f) {
		a.Cause = f.cause
	}
	return a
}

// Check returns the availability of every provider of the chain: whether it is reachable, accepts
// the key and has the model, as far as it reports that without spending tokens. It ignores budgets
// and earlier failures, since a person asks, and reports the providers that calls skip.
func (c *Chain) Check(ctx context.Context) []judge.Availability {
	defer c.client.CloseIdleConnections()
	var out []judge.Availability
	for _, p := range c.config.Providers() {
		a := judge.Availability{Provider: p.Type, Model: p.Model, Endpoint: p.Endpoint}
		_, a.Priced = c.config.Price(p)
		if err := c.check(ctx, p); err != nil {
			failed := attempt(p, err)
			a.Cause, a.Why = failed.Cause, failed.Why
		}
		if paused := c.machine.Book.Paused(p); paused != nil {
			a.Paused = paused.Error()
		}
		out = append(out, a)
	}
	return out
}

// check requests the list of models of one provider, and returns the reason why it cannot be used.
func (c *Chain) check(ctx context.Context, p judge.Provider) error {
	api, err := apiOf(p)
	if err != nil {
		return &providerError{cause: judge.Misconfigured, why: err.Error()}
	}
	if err := c.keys.possible(p); err != nil {
		return err
	}
	key, err := c.keys.get(ctx, p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit.JudgeCheck)
	defer cancel()
	data, err := c.do(ctx, httpCall{method: http.MethodGet, url: api.list(p), key: key, api: api})
	if err != nil {
		return err
	}
	return api.listed(p, data)
}
