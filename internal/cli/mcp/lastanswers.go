package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardea.dev/internal/base/limit"
)

// transport answers the requests that it has read even after its input ends: a client that
// pipes its requests closes its end before it reads. The SDK drops them.
type transport struct{ sdk.IOTransport }

// Connect opens the connection.
func (t *transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	return &connection{Connection: c, due: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), closed: make(chan struct{})}, err
}

type connection struct {
	sdk.Connection
	mu sync.Mutex
	// due holds the requests without an answer. answered signals that one was answered.
	due      map[jsonrpc.ID]bool
	answered chan struct{}
	// closed is closed with the connection.
	closed chan struct{}
	once   sync.Once
}

// Read reads a message. It returns the end of the input when all requests are answered, or
// after limit.LastAnswers.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, is := m.(*jsonrpc.Request); is && err == nil && r.IsCall() {
		c.mu.Lock()
		c.due[r.ID] = true
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
	}
	return m, err
}

// drain waits until no answer is due.
func (c *connection) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, limit.LastAnswers)
	defer cancel()
	for {
		c.mu.Lock()
		left := len(c.due)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Write writes a message, and removes an answered request from due.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, is := m.(*jsonrpc.Response); is {
		c.mu.Lock()
		delete(c.due, r.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close closes the connection. It may be called several times.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
