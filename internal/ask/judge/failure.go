package judge

import (
	"strings"

	"cardea.dev/internal/base/lists"
)

// Cause is the reason why a provider did not answer, in one word.
type Cause string

// The causes.
const (
	// NoKey: there is no key, or the command for it failed.
	NoKey Cause = "no-key"
	// Unreachable: no connection, or an interrupted one.
	Unreachable Cause = "unreachable"
	// TimedOut: the time of the provider, or of the whole question, was over.
	TimedOut Cause = "timed-out"
	// Rejected: the provider does not accept the key (401, 403).
	Rejected Cause = "rejected"
	// Busy: the provider asks to retry later (429, 529, or 503).
	Busy Cause = "busy"
	// ServerError: any other error status.
	ServerError Cause = "server-error"
	// Refused: the model declined to answer.
	Refused Cause = "refused"
	// Truncated: the answer is longer than the limit of tokens.
	Truncated Cause = "truncated"
	// Malformed: the answer does not have the requested form.
	Malformed Cause = "malformed"
	// Paused: the provider failed before and is not asked again yet.
	Paused Cause = "paused"
	// Spent: a budget is spent, or the cost of the answer has no known limit.
	Spent Cause = "spent"
	// Misconfigured: the settings of the provider cannot be used.
	Misconfigured Cause = "misconfigured"
)

// Attempt is a provider that did not answer.
type Attempt struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Cause    Cause  `json:"cause"`
	// Why is for people. It contains no key, and nothing from the provider except names of errors.
	Why string `json:"why"`
}

// Failure is the error of a question that no provider answered.
type Failure struct {
	// Attempts are the providers in the order of the chain.
	Attempts []Attempt
	// Why is set where no provider could be asked at all.
	Why string
}

// Error returns the reason of each provider.
func (f *Failure) Error() string {
	if f.Why != "" {
		return "no model was asked: " + f.Why
	}
	all := lists.Of(f.Attempts, func(a Attempt) string { return a.Provider + ": " + a.Why })
	if len(all) == 0 {
		return "no model was asked: the chain has no provider; see judge.chain in docs/judge.md"
	}
	return "no model answered: " + strings.Join(all, "; ")
}

// Spent reports whether a budget alone kept every provider from answering.
func (f *Failure) Spent() bool {
	for _, a := range f.Attempts {
		if a.Cause != Spent {
			return false
		}
	}
	return len(f.Attempts) > 0
}

// Availability is the state of a provider, found without a question.
type Availability struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"`
	// Priced is set where the price of the model is known.
	Priced bool `json:"priced"`
	// Cause and Why are the problem, "" where the provider can be asked.
	Cause Cause  `json:"cause,omitempty"`
	Why   string `json:"why,omitempty"`
	// Paused is the time until which calls do not ask it after failures; "" where they ask it.
	Paused string `json:"paused,omitempty"`
}

// OK reports whether the provider can be asked.
func (a Availability) OK() bool { return a.Cause == "" }
