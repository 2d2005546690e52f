package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/limit"
	"cardea.dev/internal/script"
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

// environ is what the engine gets of the environment: without what changes whom a
// connection reaches, and whom it believes. A project can set variables in its harness's
// settings.
func environ(all []string) []string {
	return slices.DeleteFunc(script.WithoutLibraries(all), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		name = strings.ToUpper(name)
		return name == "GODEBUG" || strings.HasSuffix(name, "_PROXY") || strings.HasPrefix(name, "SSL_CERT_")
	})
}

// maxReply bounds what the engine says, in bytes.
const maxReply = 8 << 20

// Ask carries out a request. It returns by the deadline of ctx.
func (e Engine) Ask(ctx context.Context, r Request) (Reply, error) {
	program, err := e.Find()
	if err != nil {
		return Reply{}, err
	}
	if end, has := ctx.Deadline(); has {
		r.Left = min(r.Left, time.Until(end)-limit.EngineGrace)
	}
	stdin, err := json.Marshal(r)
	if err != nil {
		return Reply{}, fmt.Errorf("ask cardea-engine: %w", err)
	}
	p := script.Process{Path: program, Args: []string{EngineArgument}, Dir: filepath.Dir(program), Env: environ(os.Environ()), Stdin: stdin,
		MaxOutput: maxReply, MaxErrors: 4 << 10}
	out, told, err := p.Run(ctx)
	if err != nil {
		return Reply{}, fmt.Errorf("cardea-engine: %w %s", err, strings.TrimSpace(string(told)))
	}
	var reply Reply
	if err := json.Unmarshal(out, &reply); err != nil {
		return Reply{}, errors.New("cardea-engine answers in words that are not understood: install cardea and cardea-engine anew")
	}
	return reply, nil
}
