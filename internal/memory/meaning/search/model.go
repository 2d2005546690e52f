package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/provider"
	"cardea.dev/internal/memory/embedding"
	"cardea.dev/internal/memory/meaning"
)

// model makes vectors of texts.
type model interface {
	// id identifies a server's model: vectors of two models cannot be compared. It is "" for the
	// built-in table, which makes vectors within microseconds.
	id() string
	// vectors returns a vector for each text, nil for a text that has none.
	vectors(ctx context.Context, texts []string) ([][]int8, error)
}

// modelOf returns the model of an embedder, or an error for an invalid setting.
func modelOf(e meaning.Embedder) (model, error) {
	switch e.Kind {
	case "", meaning.Builtin:
		table, err := embedding.Builtin()
		return builtin{table}, err
	case meaning.Ollama, meaning.OpenAI:
		if err := judge.CheckEndpoint(e.URL); err != nil {
			return nil, fmt.Errorf("near.embedder.url: %w", err)
		}
		if e.Model == "" {
			return nil, errors.New("near.embedder.model names no model")
		}
		return server{e, provider.NewClient(http.ProxyFromEnvironment)}, nil
	}
	return nil, fmt.Errorf("near.embedder.kind: %q is no kind of embedder", e.Kind)
}

// builtin is the table of the program.
type builtin struct{ table *embedding.Table }

func (b builtin) id() string { return "" }

func (b builtin) vectors(_ context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	for i, text := range texts {
		if v, ok := b.table.Vector(text); ok {
			out[i] = v[:]
		}
	}
	return out, nil
}

// server is a server with Ollama's or OpenAI's API.
type server struct {
	meaning.Embedder
	client *http.Client
}

// maxAnswer is the largest size of a server's answer, in bytes; maxDims the largest number of
// dimensions.
const (
	maxAnswer = 32 << 20
	maxDims   = 4000
)

func (s server) id() string { return s.Kind + " " + s.URL + " " + s.Model }

// vectors asks the server for the vectors of texts. An error never repeats the server's text.
func (s server) vectors(ctx context.Context, texts []string) ([][]int8, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	body, err := json.Marshal(map[string]any{"model": s.Model, "input": texts})
	if err != nil {
		return nil, err
	}
	path := "/api/embed"
	if s.Kind == meaning.OpenAI {
		path = "/embeddings"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("near.embedder.url is no address")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "cardea")
	if s.Key != "" {
		r.Header.Set("Authorization", "Bearer "+s.Key)
	}
	answer, err := s.client.Do(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err):
		return nil, errors.New("the embedder gave no answer in time")
	case err != nil:
		return nil, errors.New("the embedder cannot be reached; see near.embedder")
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the embedder answers with status %d; see near.embedder", answer.StatusCode)
	}
	return s.read(io.LimitReader(answer.Body, maxAnswer), len(texts))
}

// read reads as many vectors as there were texts. An error does not repeat the server's text, since
// a proxy may send anything.
func (s server) read(body io.Reader, texts int) ([][]int8, error) {
	var reply struct {
		Embeddings [][]float64 `json:"embeddings"`
		Data       []struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(body).Decode(&reply); err != nil {
		return nil, errors.New("the embedder answers in words that are not understood; see near.embedder.kind")
	}
	lists := reply.Embeddings
	if s.Kind == meaning.OpenAI {
		lists = make([][]float64, texts)
		for _, d := range reply.Data {
			if d.Index >= 0 && d.Index < len(lists) {
				lists[d.Index] = d.Embedding
			}
		}
	}
	if len(lists) != texts {
		return nil, fmt.Errorf("the embedder gives %d vectors for %d texts", len(lists), texts)
	}
	out := make([][]int8, len(lists))
	for i, list := range lists {
		if len(list) > maxDims {
			return nil, fmt.Errorf("the embedder gives vectors of more than %d numbers", maxDims)
		}
		out[i] = rounded(list)
	}
	return out, nil
}

// rounded returns the direction of a vector in 8 bits each, or nil for a zero vector.
func rounded(list []float64) []int8 {
	largest := 0.0
	for _, x := range list {
		largest = max(largest, math.Abs(x))
	}
	if !(largest > 0) || math.IsInf(largest, 1) {
		return nil
	}
	out := make([]int8, len(list))
	for i, x := range list {
		out[i] = int8(math.RoundToEven(x / largest * 127))
	}
	return out
}
