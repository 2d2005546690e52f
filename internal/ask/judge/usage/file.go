package usage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"cardea.dev/internal/ask/judge"
)

const (
	version = 1
	// maxSessions and maxProviders limit the stored entries; the oldest are removed.
	maxSessions  = 1000
	maxProviders = 64
	// failuresUntilPause is the number of failures in a row after which a provider is paused.
	failuresUntilPause = 3
	// firstPause doubles with each failed trial, up to longestPause.
	firstPause   = 30 * time.Second
	longestPause = 10 * time.Minute
	// longestRetry is the longest delay that a provider can ask for.
	longestRetry = time.Hour
	// probeGrace is added to the timeout of a trial before another process may try.
	probeGrace = 5 * time.Second
)

// file is the stored usage.
type file struct {
	Version int `json:"v"`
	// Day is the day in UTC to which Calls, Tokens and Money belong.
	Day    string      `json:"day"`
	Calls  int         `json:"calls"`
	Tokens int         `json:"tokens"`
	Money  judge.Money `json:"money"`
	// Sessions and Providers are indexed by digests.
	Sessions  map[string]sessionUsage `json:"sessions,omitempty"`
	Providers map[string]circuit      `json:"providers,omitempty"`
}

type sessionUsage struct {
	Calls int       `json:"calls"`
	Last  time.Time `json:"last"`
}

// circuit is the state of a provider that failed.
type circuit struct {
	// Failures is the number of failures in a row.
	Failures int `json:"failures"`
	// Until is the earliest time of the next trial, Probe the end of a running trial.
	Until time.Time `json:"until,omitzero"`
	Probe time.Time `json:"probe,omitzero"`
	Last  time.Time `json:"last"`
}

// turn begins a new day. A clock that went back a little begins no day, so that spending stays
// counted. A clock that had been days ahead does.
func (f *file) turn(now time.Time) {
	f.Version = version
	today := now.UTC().Format(time.DateOnly)
	if ahead := now.UTC().Add(48 * time.Hour).Format(time.DateOnly); today > f.Day || f.Day > ahead {
		f.Day, f.Calls, f.Tokens, f.Money = today, 0, 0, 0
	}
}

// afford returns an error if a budget does not allow a request.
func (f *file) afford(now time.Time, id string, r Request, b judge.Budget) error {
	midnight := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	again := fmt.Sprintf("it is full again in %s, at midnight UTC", midnight.Sub(now).Round(time.Minute))
	spent := func(format string, args ...any) error { return &SpentError{Why: fmt.Sprintf(format, args...)} }
	switch {
	case b.CallsPerDay > 0 && f.Calls >= b.CallsPerDay:
		return spent("the budget of %d calls a day is spent; %s (judge.budget.calls_per_day)", b.CallsPerDay, again)
	case b.CallsPerSession > 0 && f.Sessions[id].Calls >= b.CallsPerSession:
		return spent("the budget of %d calls for this session is spent (judge.budget.calls_per_session)", b.CallsPerSession)
	case b.TokensPerDay > 0 && f.Tokens+r.Tokens > b.TokensPerDay:
		return spent("of the budget of %d tokens a day %d are left, and this may take %d; %s (judge.budget.tokens_per_day)",
			b.TokensPerDay, max(0, b.TokensPerDay-f.Tokens), r.Tokens, again)
	case b.MoneyPerDay > 0 && !r.Priced:
		return spent("no price is known for %s, so judge.budget.money_per_day cannot hold; write judge.prices: {%q: {in: …, out: …}}, in dollars for a million tokens",
			r.Provider.Model, r.Provider.Model)
	case b.MoneyPerDay > 0 && f.Money+r.Cost > b.MoneyPerDay:
		return spent("of the budget of %s dollars a day %s are left, and this may cost %s; %s (judge.budget.money_per_day)",
			b.MoneyPerDay, max(0, b.MoneyPerDay-f.Money), r.Cost, again)
	}
	return nil
}

// admit returns an error if a provider may not be asked. Only one process at a time tries a
// provider that failed too often; the time is the end of its trial.
func (f *file) admit(now time.Time, id string, timeout time.Duration) (time.Time, error) {
	c := f.Providers[id]
	if c.Failures < failuresUntilPause {
		return time.Time{}, nil
	}
	if paused := c.paused(now); paused != nil {
		return time.Time{}, paused
	}
	c.Probe = now.Add(timeout + probeGrace)
	f.Providers[id] = c
	return c.Probe, nil
}

// paused returns the pause of a provider, nil if it may be asked.
func (c circuit) paused(now time.Time) *PausedError {
	if c.Failures < failuresUntilPause {
		return nil
	}
	if left := c.Until.Sub(now); left > 0 && left <= longestRetry { // a longer one is a clock that went back
		return &PausedError{Until: c.Until, left: left}
	}
	if left := c.Probe.Sub(now); left > 0 && left <= longestRetry {
		return &PausedError{Until: c.Probe, Trial: true}
	}
	return nil
}

// spend takes a claim from the budgets.
func (f *file) spend(c *Claim, now time.Time) {
	f.Calls++
	f.Tokens += c.tokens
	f.Money += c.cost
	if f.Sessions == nil {
		f.Sessions = map[string]sessionUsage{}
	}
	f.Sessions[c.session] = sessionUsage{Calls: f.Sessions[c.session].Calls + 1, Last: now}
	forget(f.Sessions, maxSessions, func(s sessionUsage) time.Time { return s.Last })
}

// settle returns the unused rest of a claim to the budgets.
func (f *file) settle(c *Claim, o Outcome) {
	tokens, cost := c.tokens, c.cost
	switch {
	case o.Unsent:
		tokens, cost = 0, 0
	case o.Known:
		tokens, cost = o.Tokens, o.Cost
	}
	if s := f.Sessions[c.session]; o.Unsent && s.Calls > 0 {
		s.Calls--
		f.Sessions[c.session] = s
	}
	if c.day != f.Day {
		return // the claim belongs to an earlier day
	}
	f.Tokens = max(0, f.Tokens+tokens-c.tokens)
	f.Money = max(0, f.Money+cost-c.cost)
	if o.Unsent {
		f.Calls = max(0, f.Calls-1)
	}
}

// judge records the health of a provider.
func (f *file) judge(now time.Time, claim *Claim, o Outcome) {
	c, known := f.Providers[claim.provider]
	if !claim.probe.IsZero() && c.Probe.Equal(claim.probe) {
		c.Probe = time.Time{}
	}
	switch o.Health {
	case Alive:
		delete(f.Providers, claim.provider)
		return
	case Unclear:
		if known {
			f.Providers[claim.provider] = c
		}
		return
	}
	c.Last = now
	if c.Until.After(now) && o.RetryAfter == 0 {
		// Another request found this out before: this one was sent earlier, and shows nothing new.
	} else if c.Failures++; c.Failures >= failuresUntilPause {
		c.Until = now.Add(pause(c.Failures - failuresUntilPause))
	}
	if o.RetryAfter > 0 {
		c.Failures = max(c.Failures, failuresUntilPause)
		if until := now.Add(min(o.RetryAfter, longestRetry)); until.After(c.Until) {
			c.Until = until
		}
	}
	if f.Providers == nil {
		f.Providers = map[string]circuit{}
	}
	f.Providers[claim.provider] = c
	forget(f.Providers, maxProviders, func(c circuit) time.Time { return c.Last })
}

// pause returns the length of the pause after so many failed trials.
func pause(trials int) time.Duration {
	d := firstPause
	for range trials {
		if d *= 2; d >= longestPause {
			return longestPause
		}
	}
	return d
}

// forget removes the oldest entries of a map until it has most entries.
func forget[T any](m map[string]T, most int, last func(T) time.Time) {
	if len(m) <= most {
		return
	}
	ids := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(last(m[a]).Compare(last(m[b])), cmp.Compare(a, b))
	})
	for _, id := range ids[:len(ids)-most] {
		delete(m, id)
	}
}
