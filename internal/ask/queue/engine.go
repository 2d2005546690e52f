package queue

import (
	"context"
	"net/netip"
	"net/url"
	"os"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
)

// EngineArgument makes cardea-engine carry out one [Request].
const EngineArgument = "queue"

// Request asks cardea-engine to hold a call back. It proves nothing by itself, so no field of it
// lets a call run.
type Request struct {
	// State is the state folder.
	State string `json:"state"`
	// Hold is a call that waits for a person, or that gets a ticket. An approved ticket for it is
	// used up first.
	Hold *Entry `json:"hold,omitempty"`
	// Notices are the places to notify of a new entry.
	Notices Notices `json:"notices"`
	// Left is the remaining time.
	Left time.Duration `json:"left"`
}

// Notices are the places to notify of new entries.
type Notices struct {
	Desktop bool   `json:"desktop"`
	Webhook string `json:"webhook"`
	Ntfy    string `json:"ntfy"`
}

// Reply is the engine's reply.
type Reply struct {
	// Entry is the entry that waited, got a ticket, or was approved before.
	Entry *Entry `json:"entry,omitempty"`
	// Answer is the person's answer. Granted is set where they gave it before, to the ticket of the
	// same call.
	Answer  *Resolution `json:"answer,omitempty"`
	Granted bool        `json:"granted,omitempty"`
	// TimedOut is set where no person answered.
	TimedOut bool `json:"timed_out,omitempty"`
	// Failure is the reason why the queue could not be used, or "".
	Failure string `json:"failure,omitempty"`
	// Told are further reports for the person: a notice that could not be sent, a damaged file.
	Told []string `json:"told,omitempty"`
}

// SafeAddress reports whether confidential text can be sent to an address: it uses https, or is on
// this machine.
func SafeAddress(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	local := err == nil && ip.IsLoopback() || u.Hostname() == "localhost"
	return u.Scheme == "https" || u.Scheme == "http" && local
}

// Asker carries out requests.
type Asker interface {
	Ask(ctx context.Context, r Request) (Reply, error)
}

// Engine asks through a process of cardea-engine, one for each request.
type Engine struct {
	// Find returns the path of cardea-engine.
	Find func() (string, error)
}

// maxReply is the largest size of a reply, in bytes.
const maxReply = 8 << 20

// Ask carries out a request. It returns by the deadline of ctx.
func (e Engine) Ask(ctx context.Context, r Request) (reply Reply, err error) {
	program, err := e.Find()
	if err != nil {
		return reply, err
	}
	if end, has := ctx.Deadline(); has {
		r.Left = min(r.Left, time.Until(end)-limit.EngineGrace)
	}
	err = script.AskEngine(ctx, program, EngineArgument, script.EngineEnviron(os.Environ(), false, false), maxReply, r, &reply)
	return reply, err
}
