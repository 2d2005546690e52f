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

// EngineArgument is what cardea-engine is started with to carry out one [Request].
const EngineArgument = "queue"

// Request is what cardea-engine is told: to hold a call back. It proves nothing by itself,
// so nothing that it asks for lets a call run.
type Request struct {
	// State is the state folder.
	State string `json:"state"`
	// Hold is a call that waits for a person, or that gets a ticket. An approved ticket
	// for it is used up first.
	Hold *Entry `json:"hold,omitempty"`
	// Notices are where a new entry is told of.
	Notices Notices `json:"notices"`
	// Left is how much time there is.
	Left time.Duration `json:"left"`
}

// Notices are where new entries are told of.
type Notices struct {
	Desktop bool   `json:"desktop"`
	Webhook string `json:"webhook"`
	Ntfy    string `json:"ntfy"`
}

// Reply is the engine's.
type Reply struct {
	// Entry is the one that waited, got a ticket, or was approved before.
	Entry *Entry `json:"entry,omitempty"`
	// Answer is what the person said. Granted is set where they said it before, to the
	// ticket of the same call.
	Answer  *Answer `json:"answer,omitempty"`
	Granted bool    `json:"granted,omitempty"`
	// TimedOut is set where nobody answered.
	TimedOut bool `json:"timed_out,omitempty"`
	// Failure is why the queue could not be used, "" where it could.
	Failure string `json:"failure,omitempty"`
	// Told are what the person must learn of besides: a notice that could not be sent, a
	// damaged file.
	Told []string `json:"told,omitempty"`
}

// SafeAddress reports whether an address can be told something that others must not
// read: by https, or on this machine.
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

// Engine asks a process of cardea-engine, one for each request.
type Engine struct {
	// Find gives the path of cardea-engine.
	Find func() (string, error)
}

// maxReply bounds what the engine says, in bytes.
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
