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

// EngineArgument makes cardea-engine answer one [Request].
const EngineArgument = "judge"

// Request asks cardea-engine to ask a question. Without a question, it asks which providers are
// available.
type Request struct {
	Config Config `json:"config"`
	// State is the state folder, Home the folder in which commands for keys run, Project the
	// project of the call, or "".
	State    string    `json:"state"`
	Home     string    `json:"home"`
	Project  string    `json:"project"`
	Question *Question `json:"question,omitempty"`
	// Requester is set where the supervisor of a team is asked, and not the chain.
	Terminal *Requester `json:"seat,omitempty"`
	// Left is the remaining time.
	Left time.Duration `json:"left"`
}

// Requester identifies the agent that asks the supervisor of a team.
type Requester struct {
	// Runtime is the folder for sockets. Team is the team's name, or "". Agent is the subagent that
	// asks, "" for the session itself.
	Runtime string `json:"runtime"`
	Team    string `json:"team"`
	Agent   string `json:"agent"`
}

// Reply is the engine's reply: an answer, a failure, or the availability of the providers.
type Reply struct {
	Answer    *SentAnswer    `json:"answer,omitempty"`
	Failure   *Failure       `json:"failure,omitempty"`
	Available []Availability `json:"available,omitempty"`
}

// SentAnswer is the JSON form of an [Assessment].
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

// Sent returns the JSON form of the answer.
func (a Assessment) Sent() *SentAnswer {
	return &SentAnswer{a.Decision.String(), a.Confidence, a.Reason, a.Rule, a.Provider, a.Model, a.TokensIn, a.TokensOut, a.Cost, a.Priced, a.Took, a.Failed}
}

// Answer returns the answer, or an error for an invalid decision or confidence.
func (s *SentAnswer) Answer() (Assessment, error) {
	e, err := cardea.ParseEffect(s.Decision)
	if err != nil || e != cardea.Allow && e != cardea.Deny && e != cardea.Ask || !(s.Confidence >= 0 && s.Confidence <= 1) {
		return Assessment{}, errors.New("it gives an answer that none can be")
	}
	return Assessment{e, s.Confidence, s.Reason, s.Rule, s.Provider, s.Model, s.TokensIn, s.TokensOut, s.Cost, s.Priced, s.Took, s.Failed}, nil
}

// Engine asks through a process of cardea-engine, one for each question.
type Engine struct {
	// Find returns the path of cardea-engine.
	Find func() (string, error)
	// Environ is the environment as os.Environ returns it. Variables that change the target of a
	// connection are only passed on if Trusted names them.
	Environ []string
	// Trusted are the words of from_env in the user's settings.
	Trusted []string
	// Request is the template of a request. Its question and time are set for each question.
	Request Request
}

// maxReply is the largest size of a reply, in bytes.
const maxReply = 1 << 20

// Ask asks through the engine. It returns by the deadline of ctx.
func (e Engine) Ask(ctx context.Context, q Question) (Assessment, error) {
	r := e.Request
	r.Question = &q
	reply, err := e.run(ctx, r)
	switch {
	case err != nil:
		return Assessment{}, &Failure{Why: err.Error()}
	case reply.Failure != nil:
		return Assessment{}, reply.Failure
	case reply.Answer == nil:
		return Assessment{}, &Failure{Why: "cardea-engine gives no answer; install cardea and cardea-engine anew"}
	}
	a, err := reply.Answer.Answer()
	if err != nil {
		return Assessment{}, &Failure{Why: "cardea-engine: " + err.Error()}
	}
	return a, nil
}

// Check returns the availability of every provider, without asking a question.
func (e Engine) Check(ctx context.Context) ([]Availability, error) {
	r := e.Request
	r.Question = nil
	reply, err := e.run(ctx, r)
	return reply.Available, err
}

// run sends a request to a new process of the engine and returns its reply. The process gets the
// time until the deadline of ctx, at most [limit.Judge].
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

// Words of from_env: variables that change the target of a connection, and the accepted
// certificates.
const (
	ProxyVariables       = "proxy"
	CertificateVariables = "certificates"
)
