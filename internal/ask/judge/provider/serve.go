package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/usage"
)

// maxRequest is the largest size of a request, in bytes.
const maxRequest = 4 << 20

// Serve reads one request and answers it by the chain, or by the supervisor where the request names
// one. The error is that of reading and writing; a missing answer is part of the reply.
func Serve(in io.Reader, out io.Writer, supervisor func(judge.Request) judge.Asker) error {
	var r judge.Request
	if err := json.NewDecoder(io.LimitReader(in, maxRequest)).Decode(&r); err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.Left)
	defer cancel()
	c := New(r.Config, Machine{Environ: os.Environ(), Dir: r.Home, Project: r.Project, Proxy: http.ProxyFromEnvironment,
		Book: usage.Open(r.State, time.Now), Now: time.Now})
	asker := judge.Asker(c)
	if r.Terminal != nil {
		asker = supervisor(r)
	}
	return json.NewEncoder(out).Encode(c.reply(ctx, r, asker))
}

// reply asks the question, or returns the availability of the providers.
func (c *Chain) reply(ctx context.Context, r judge.Request, asker judge.Asker) judge.Reply {
	if r.Question == nil {
		return judge.Reply{Available: c.Check(ctx)}
	}
	a, err := asker.Ask(ctx, *r.Question)
	var f *judge.Failure
	switch {
	case errors.As(err, &f):
		return judge.Reply{Failure: f}
	case err != nil:
		return judge.Reply{Failure: &judge.Failure{Why: err.Error()}}
	}
	return judge.Reply{Answer: a.Sent()}
}
