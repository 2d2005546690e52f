package judge

import (
	"context"
	"errors"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/command/redact"
)

// EngineArgument is what cardea-engine is started with to answer one [Request].
const EngineArgument = "judge"

// Request is what cardea-engine is told: to ask a question, or, where there is none, to
// say which providers are there.
type Request struct {
	Config Config `json:"config"`
	// State is the state folder, Home the folder in which commands for keys run, Project
	// that of the call, "" for none.
	State    string    `json:"state"`
	Home     string    `json:"home"`
	Project  string    `json:"project"`
	Question *Question `json:"question,omitempty"`
	// Seat is set where the supervisor of a team is asked, and not the chain.
	Seat *Seat `json:"seat,omitempty"`
	// Left is how much time there is.
	Left time.Duration `json:"left"`
}

// Seat is who asks the supervisor of a team.
type Seat struct {
	// Runtime is the folder for sockets, Team the team's name, "" for the sessions of
	// none, Agent the subagent that asks, "" for the session itself.
	Runtime string `json:"runtime"`
	Team    string `json:"team"`
	Agent   string `json:"agent"`
}

// Reply is the engine's: an answer, a failure, or what is there.
type Reply struct {
	Answer    *SentAnswer    `json:"answer,omitempty"`
	Failure   *Failure       `json:"failure,omitempty"`
	Available []Availability `json:"available,omitempty"`
}

// SentAnswer is an [Answer] as it is written down.
type SentAnswer struct {
	Decision   string        `json:"decision"`
	Confidence float64       `json:"confidence"`
	Reason     redact.Text   `json:"reason"`
	Rule       redact.Text   `json:"rule"`
	Provider   string        `json:"provider"`
	Model      string        `json:"model"`
	TokensIn   int           `json:"tokens_in"`
	TokensOut  int           `json:"tokens_out"`
	Cost       Money         `json:"cost"`
	Priced     bool          `json:"priced"`
	Took       time.Duration `json:"took"`
	Failed     []Attempt     `json:"failed,omitempty"`
}

// Sent is the answer as it is written down.
func (a Answer) Sent() *SentAnswer {
	return &SentAnswer{a.Decision.String(), a.Confidence, a.Reason, a.Rule, a.Provider, a.Model, a.TokensIn, a.TokensOut, a.Cost, a.Priced, a.Took, a.Failed}
}

// Answer is what was written down. The error is that of a decision that none can be.
func (s *SentAnswer) Answer() (Answer, error) {
	e, err := cardea.ParseEffect(s.Decision)
	if err != nil || e != cardea.Allow && e != cardea.Deny && e != cardea.Ask || !(s.Confidence >= 0 && s.Confidence <= 1) {
		return Answer{}, errors.New("it gives an answer that none can be")
	}
	return Answer{e, s.Confidence, s.Reason, s.Rule, s.Provider, s.Model, s.TokensIn, s.TokensOut, s.Cost, s.Priced, s.Took, s.Failed}, nil
}

// Engine asks by a process of cardea-engine, one for each question.
type Engine struct {
	// Find gives the path of cardea-engine.
	Find func() (string, error)
	// Environ is the environment as os.Environ gives it. Of what changes whom a
	// connection reaches, only what Trusted names is passed on.
	Environ []string
	// Trusted are the words of from_env in the person's settings.
	Trusted []string
	// Request says who is asked. Its question and time are set for each question.
	Request Request
}

// maxReply bounds what the engine says, in bytes.
const maxReply = 1 << 20

// Ask asks by the engine. It returns by the deadline of ctx.
func (e Engine) Ask(ctx context.Context, q Question) (Answer, error) {
	r := e.Request
	r.Question = &q
	reply, err := e.run(ctx, r)
	switch {
	case err != nil:
		return Answer{}, &Failure{Why: err.Error()}
	case reply.Failure != nil:
		return Answer{}, reply.Failure
	case reply.Answer == nil:
		return Answer{}, &Failure{Why: "cardea-engine gives no answer; install cardea and cardea-engine anew"}
	}
	a, err := reply.Answer.Answer()
	if err != nil {
		return Answer{}, &Failure{Why: "cardea-engine: " + err.Error()}
	}
	return a, nil
}

// Check has the engine ask every provider whether it is there, without a question.
func (e Engine) Check(ctx context.Context) ([]Availability, error) {
	r := e.Request
	r.Question = nil
	reply, err := e.run(ctx, r)
	return reply.Available, err
}

func (e Engine) run(ctx context.Context, r Request) (reply Reply, err error) {
	program, err := e.Find()
	if err != nil {
		return reply, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit.Judge)
	defer cancel()
	end, _ := ctx.Deadline()
	r.Left = time.Until(end) - limit.EngineGrace
	env := script.EngineEnviron(e.Environ, slices.Contains(e.Trusted, ProxyVariables), slices.Contains(e.Trusted, CertificateVariables))
	err = script.AskEngine(ctx, program, EngineArgument, env, maxReply, r, &reply)
	return reply, err
}

// Words of from_env: what changes whom a connection reaches, and whom it believes.
const (
	ProxyVariables       = "proxy"
	CertificateVariables = "certificates"
)
