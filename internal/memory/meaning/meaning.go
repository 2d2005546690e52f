// Package meaning finds lessons about calls that mean the same as another one, although
// their words differ (docs/near-embedding.md). It is the side of the hook: the table and
// the search are in cardea-engine, which it asks, since they would make every call
// slower. A call asks only where there are lessons and nothing else decided.
//
// An answer is a hint where to look. It names lessons, and who asked reads them from the
// files by itself: [Engine.Near] gives nothing that is not there.
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

// EngineArgument is what cardea-engine is started with to answer requests, one a line of
// JSON, until its input ends. IndexArgument is what it is started with to make the index
// for one.
const (
	EngineArgument = "near"
	IndexArgument  = "near-index"
)

// Request is what cardea-engine is asked: for lessons of a folder.
type Request struct {
	// Dir is the scope's folder, Shared says that others can write there.
	Dir    string `json:"dir"`
	Shared bool   `json:"shared,omitempty"`
	// State and Cache are Cardea's folders.
	State string `json:"state"`
	Cache string `json:"cache"`
	// Tool and Role are those of the call, Text is what it is about, as in a lesson.
	Tool string `json:"tool"`
	Role string `json:"role"`
	Text string `json:"text"`
	// Threshold is how similar a lesson must be, from 0 to 1, Wanted how many are
	// wanted of each role and effect.
	Threshold float32 `json:"threshold"`
	Wanted    int     `json:"wanted"`
	// Embedder is who makes vectors; by default the built-in table.
	Embedder Embedder `json:"embedder"`
}

// The kinds of embedders: the built-in table, and servers with Ollama's or OpenAI's API.
const (
	Builtin = "builtin"
	Ollama  = "ollama"
	OpenAI  = "openai"
)

// Embedder is a server that makes vectors of texts. It is sent the texts of lessons and
// of calls, without secrets, as lessons hold them.
type Embedder struct {
	// Kind is its API; [Builtin] and "" are no server.
	Kind string `json:"kind"`
	// URL is the address in front of "/api/embed" or "/embeddings", Model the model's
	// name there, Key the key that it wants, "" for none.
	URL   string `json:"url"`
	Model string `json:"model"`
	Key   string `json:"key"`
}

// Reply is the engine's answer.
type Reply struct {
	// Named are the lessons, those of the role before those of every role.
	Named []Named `json:"named,omitempty"`
	// Stale is set where the index does not know all lessons. It is being made anew.
	Stale bool `json:"stale,omitempty"`
	// Error says why there is no answer.
	Error string `json:"error,omitempty"`
}

// Named is a lesson that the engine names.
type Named struct {
	// Subject is the lesson's, ID names it.
	Subject string `json:"subject"`
	ID      string `json:"id"`
	// Similarity is from the threshold to 1.
	Similarity float32 `json:"similarity"`
}

// Engine asks by a process of cardea-engine, which starts when the first lesson is looked
// for and ends with this one. It is safe for concurrent use.
type Engine struct {
	// Find gives the path of cardea-engine.
	Find func() (string, error)
	// State and Cache are Cardea's folders.
	State, Cache string
	// Threshold is how similar a lesson must be, from 0 to 1.
	Threshold float64
	// Embedder is who makes vectors; by default the built-in table.
	Embedder Embedder

	mu     sync.Mutex
	server *script.Server
	out    *bufio.Reader
	// failed is why nobody is asked any more.
	failed error
}

// Near is a lesson that means nearly the same as a text.
type Near struct {
	*lesson.Found
	// Similarity is from the threshold to 1.
	Similarity float64
}

const (
	// maxReply bounds what the engine says to a request, in bytes.
	maxReply = 4 << 20
	// wanted is how many lessons are wanted of each role and effect.
	wanted = 4
	// MaxText is the longest text that is looked for, in bytes.
	MaxText = 4096
)

// Near gives the lessons of a store that mean nearly the same as a text, the most similar
// first. Whether they count is for others to say. It returns by the deadline of ctx.
// After an error nobody is asked again.
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
