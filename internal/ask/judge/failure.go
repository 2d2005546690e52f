package judge

import (
	"strings"

	"cardea.dev/internal/base/lists"
)

// Cause says in a word why a provider did not answer.
type Cause string

// The causes.
const (
	// NoKey: there is no key, or the command that gives it failed.
	NoKey Cause = "no-key"
	// Unreachable: no connection, or one that was cut.
	Unreachable Cause = "unreachable"
	// TimedOut: its time, or that of the whole question, was over.
	TimedOut Cause = "timed-out"
	// Rejected: it does not accept the key (401, 403).
	Rejected Cause = "rejected"
	// Busy: it asks to come back later (429, 529, or 503).
	Busy Cause = "busy"
	// ServerError: any other status that is no success.
	ServerError Cause = "server-error"
	// Refused: the model declined to answer.
	Refused Cause = "refused"
	// Truncated: the answer does not come to its end within its tokens.
	Truncated Cause = "truncated"
	// Malformed: what came is no answer of the form that was asked for.
	Malformed Cause = "malformed"
	// Paused: it failed before and is not asked again yet.
	Paused Cause = "paused"
	// Spent: a budget is spent, or what the answer costs cannot be bounded.
	Spent Cause = "spent"
	// Misconfigured: its settings cannot be used.
	Misconfigured Cause = "misconfigured"
)

// Attempt is a provider that did not answer.
type Attempt struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Cause    Cause  `json:"cause"`
	// Why is for people. It has no key and nothing of what the provider sent but names of
	// errors.
	Why string `json:"why"`
}

// Failure is the error of a question that no provider answered.
type Failure struct {
	// Attempts are the providers in the order of the chain.
	Attempts []Attempt
	// Why is set where no provider could be asked at all.
	Why string
}

// Error says of each provider why it did not answer.
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

// Availability is what a provider says without being asked a question.
type Availability struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"`
	// Priced is set where it is known what the model costs.
	Priced bool `json:"priced"`
	// Cause and Why say what is wrong, "" where it can be asked.
	Cause Cause  `json:"cause,omitempty"`
	Why   string `json:"why,omitempty"`
	// Paused is until when calls leave it alone, since it failed; "" where they ask it.
	Paused string `json:"paused,omitempty"`
}

// OK reports whether the provider can be asked.
func (a Availability) OK() bool { return a.Cause == "" }
