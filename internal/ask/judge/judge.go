// Package judge defines the question that a language model is asked about a tool call, and its
// answer. An [Asker] answers it: the chain of providers in package provider, which only
// cardea-engine links since it uses HTTP, or another process ([Engine]).
//
// A model reads text that the agent wrote, so its answer is trusted no more than that text. It is
// data of a fixed form ([ParseAnswer]). Any other form is a failure and no answer. The caller
// decides what effect an answer has.
package judge

import (
	"context"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// Question is the question to a model. Both texts are redacted: they leave the machine.
type Question struct {
	// System is the instruction to the model, User the call to decide about.
	System redact.Text `json:"system"`
	User   redact.Text `json:"user"`
	// Session is the harness's session, for the budget of a session. "" is treated as a session of
	// its own. It is not sent.
	Session string `json:"session"`
}

// Assessment is the answer of a model, in the form of [Schema].
type Assessment struct {
	// Decision is Allow, Deny or Ask. Confidence is from 0 to 1.
	Decision   cardea.Effect
	Confidence float64
	// Reason is for people. Rule is a rule that the model proposes for calls of this kind, or "";
	// only a person may add it. Both are the model's words, in one line, redacted.
	Reason, Rule redact.Text
	// Provider and Model identify the model that answered.
	Provider, Model string
	// TokensIn and TokensOut are the numbers of tokens that the provider reports.
	TokensIn, TokensOut int
	// Cost is the cost of the answer. Priced is false if the model's price is unknown, and Cost is
	// then 0.
	Cost   Money
	Priced bool
	// Took is the time of the provider that answered, without those that failed before.
	Took time.Duration
	// Failed are the providers that were asked before and did not answer.
	Failed []Attempt
}

// Asker asks a model. The error is a *[Failure] if no provider answered. Ask returns by the
// deadline of ctx.
type Asker interface {
	Ask(ctx context.Context, q Question) (Assessment, error)
}
