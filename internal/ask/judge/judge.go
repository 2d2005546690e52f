// Package judge has the question that a language model is asked about a tool call, its
// answer, and what both may be. Who answers is an [Asker]: the chain of providers in
// package provider, which only cardea-engine links since it speaks HTTP, or another
// process ([Engine]).
//
// A model reads text that the agent wrote, so its answer is as little trusted as that
// text. It is data of a fixed form ([ParseAnswer]). Whatever has another form is a
// failure and no answer. What an answer is worth is decided by the caller.
package judge

import (
	"context"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// Question is what a model is asked. Both texts are redacted: they leave the machine.
type Question struct {
	// System is what the model is told to do, User what it is to decide about.
	System redact.Text `json:"system"`
	User   redact.Text `json:"user"`
	// Session is the harness's session, for the budget of a session; "" counts as one of
	// its own. It is not sent.
	Session string `json:"session"`
}

// Answer is what a model said, in the form of [Schema].
type Answer struct {
	// Decision is Allow, Deny or Ask. Confidence is from 0 to 1.
	Decision   cardea.Effect
	Confidence float64
	// Reason is for people. Rule is a rule that the model proposes for calls of this
	// kind, "" for none; only a person may take it over. Both are the model's words, in
	// one line, redacted.
	Reason, Rule redact.Text
	// Provider and Model answered.
	Provider, Model string
	// TokensIn and TokensOut are what the provider says it read and wrote.
	TokensIn, TokensOut int
	// Cost is what the answer cost. Priced is false where the model's price is not known;
	// then Cost is 0.
	Cost   Money
	Priced bool
	// Took is how long the provider took that answered, without those that failed before.
	Took time.Duration
	// Failed are the providers that were asked before and did not answer.
	Failed []Attempt
}

// Asker asks a model. The error is a *[Failure] where no provider answered. It returns
// when ctx is over, at the latest.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}
