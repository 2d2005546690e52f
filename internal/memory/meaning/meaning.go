// Package meaning finds lessons about calls with the same meaning as another call, although their
// words differ (docs/near-embedding.md). It is the hook's side. The table and the search are in
// cardea-engine, which it asks, since they would slow down every call. A call asks only if there
// are lessons and no other decider has decided.
//
// An answer is only a hint. It names lessons, and [Engine.Near] reads them from the files and drops
// those that do not exist.
package meaning

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/memory/lesson"
)

// EngineArgument makes cardea-engine answer requests, one line of JSON each, until its input ends.
// VectorsArgument makes it ask a server for the missing vectors of the folder of one request.
const (
	EngineArgument  = "near"
	VectorsArgument = "near-vectors"
)

// Request asks cardea-engine for lessons of a folder.
type Request struct {
	// Dir is the scope's folder. Shared is set where others can write to it.
	Dir    string `json:"dir"`
	Shared bool   `json:"shared,omitempty"`
	// State and Cache are Cardea's folders.
	State string `json:"state"`
	Cache string `json:"cache"`
	// Tool and Role are those of the call. Text is its subject, as in a lesson.
	Tool string `json:"tool"`
	Role string `json:"role"`
	Text string `json:"text"`
	// Threshold is the minimum similarity of a lesson, from 0 to 1. Wanted is the number of lessons
	// for each role and effect, in a folder with many lessons.
	Threshold float32 `json:"threshold"`
	Wanted    int     `json:"wanted"`
	// Embedder makes the vectors; its zero value is the built-in table.
	Embedder Embedder `json:"embedder"`
}

// The kinds of embedders: the built-in table, and servers with Ollama's or OpenAI's API.
const (
	Builtin = "builtin"
	Ollama  = "ollama"
	OpenAI  = "openai"
)

// Embedder is a server that makes vectors of texts. It receives the texts of lessons and of calls,
// without secrets, as in lessons.
type Embedder struct {
	// Kind is its API; [Builtin] and "" mean no server.
	Kind string `json:"kind"`
	// URL is the address before "/api/embed" or "/embeddings", Model the model's name there, and
	// Key the API key, or "".
	URL   string `json:"url"`
	Model string `json:"model"`
	Key   string `json:"key"`
}

// Reply is the engine's answer.
type Reply struct {
	// Named are the lessons, the most similar first.
	Named []Named `json:"named,omitempty"`
	// Stale is set where a server's vectors of some lessons are missing. They are being made.
	Stale bool `json:"stale,omitempty"`
	// Error is the reason why there is no answer, or "".
	Error string `json:"error,omitempty"`
}

// Named is a lesson in a reply.
type Named struct {
	// Subject is the subject of the lesson, ID its id.
	Subject string `json:"subject"`
	ID      string `json:"id"`
	// Similarity is from the threshold to 1.
	Similarity float32 `json:"similarity"`
}

// Engine asks a process of cardea-engine, which starts at the first request and ends with this
// process. It is safe for concurrent use.
type Engine struct {
	// Find returns the path of cardea-engine.
	Find func() (string, error)
	// State and Cache are Cardea's folders.
	State, Cache string
	// Threshold is the minimum similarity of a lesson, from 0 to 1.
	Threshold float64
	// Embedder makes the vectors; its zero value is the built-in table.
	Embedder Embedder

	mu     sync.Mutex
	server *script.Server
	out    *bufio.Reader
	// failed is the reason why no further request is sent.
	failed error
}

// Near is a lesson with nearly the same meaning as a text.
type Near struct {
	*lesson.Found
	// Similarity is from the threshold to 1.
	Similarity float64
}

const (
	// maxReply is the largest size of a reply, in bytes.
	maxReply = 4 << 20
	// wanted is the number of lessons for each role and effect, in a folder with many lessons.
	wanted = 4
	// MaxText is the longest text to look for, in bytes.
	MaxText = 4096
)

// Near returns the lessons of a store with nearly the same meaning as a text, the most similar
// first. The caller decides whether they apply. It returns by the deadline of ctx. After an error,
// it sends no further requests.
func (e *Engine) Near(ctx context.Context, s *lesson.Store, tool, role, text string) ([]Near, error) {
	if s == nil || text == "" || len(text) > MaxText {
		return nil, nil
	}
	p := s.Place()
	reply, err := e.ask(ctx, Request{Dir: p.Dir, Shared: p.Shared, State: e.State, Cache: e.Cache, Tool: tool, Role: role, Text: text,
		Threshold: float32(e.Threshold), Wanted: wanted, Embedder: e.Embedder})
	if err != nil {
		return nil, err
	}
	var out []Near
	for _, n := range reply.Named {
		for _, f := range s.Lookup(n.Subject) {
			if f.ID.String() == n.ID && f.Tool == tool && (f.Role == lesson.AnyRole || f.Role == role) {
				out = append(out, Near{f, float64(n.Similarity)})
			}
		}
	}
	return out, nil
}

// ask sends a request and reads the answer.
func (e *Engine) ask(ctx context.Context, r Request) (reply Reply, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return reply, e.failed
	}
	defer func() {
		if e.failed = err; err != nil && e.server != nil {
			e.server.Kill()
		}
	}()
	if e.server == nil {
		if err := e.start(); err != nil {
			return reply, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit.Near)
	defer cancel()
	stop := context.AfterFunc(ctx, e.server.Kill) // ends the read below
	defer stop()
	request, err := json.Marshal(r)
	if err != nil {
		return reply, fmt.Errorf("ask cardea-engine: %w", err)
	}
	if _, err := e.server.In.Write(append(request, '\n')); err != nil {
		return reply, fmt.Errorf("cardea-engine ended without an answer: %w", err)
	}
	line, err := readLine(e.out)
	switch {
	case ctx.Err() != nil:
		return reply, fmt.Errorf("cardea-engine gave no answer in time: %w", ctx.Err())
	case err != nil:
		return reply, fmt.Errorf("cardea-engine ended without an answer: %w", err)
	case json.Unmarshal(line, &reply) != nil:
		return reply, errors.New("cardea-engine answers in words that are not understood: install cardea and cardea-engine anew")
	case reply.Error != "":
		return reply, errors.New("cardea-engine: " + reply.Error)
	}
	return reply, nil
}

func (e *Engine) start() error {
	program, err := e.Find()
	if err != nil {
		return err
	}
	if e.server, err = script.StartServer(program, EngineArgument); err != nil {
		return fmt.Errorf("start cardea-engine: %w", err)
	}
	e.out = bufio.NewReader(e.server.Out)
	return nil
}

// readLine reads a line of at most maxReply bytes.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := from.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxReply:
			return nil, fmt.Errorf("it says more than %d bytes", maxReply)
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Close ends the process of the engine.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		e.server.Kill()
	}
	e.failed = errors.New("cardea-engine was ended")
}
