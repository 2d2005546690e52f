package judgeeval

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/redact"
)

// Cassette holds recorded answers. The key of an answer is a digest of the question's text and of
// the judge's name, so an answer applies only to the same question. The question is not stored.
type Cassette struct {
	mu      sync.Mutex
	entries map[string]entry
	added   bool
}

// entry is a line of a cassette.
type entry struct {
	Version    int           `json:"v"`
	Key        string        `json:"key"`
	Case       string        `json:"case"`
	Provider   string        `json:"provider"`
	Model      string        `json:"model"`
	Decision   cardea.Effect `json:"-"`
	Said       string        `json:"decision"`
	Confidence float64       `json:"confidence"`
	Reason     redact.Text   `json:"reason"`
	Rule       redact.Text   `json:"rule"`
	TokensIn   int           `json:"tokens_in"`
	TokensOut  int           `json:"tokens_out"`
	Cost       judge.Money   `json:"cost_millionths"`
	Priced     bool          `json:"priced"`
	Millis     int64         `json:"took_ms"`
}

const version = 1

// ReadCassette reads a cassette. Empty data is an empty cassette.
func ReadCassette(name string, data []byte) (*Cassette, []diagnostic.Diagnostic) {
	c := &Cassette{entries: map[string]entry{}}
	var problems []diagnostic.Diagnostic
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e entry
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&e)
		if err == nil {
			e.Decision, err = cardea.ParseEffect(e.Said)
		}
		switch {
		case err != nil:
		case e.Version != version:
			err = fmt.Errorf("version %d is not known", e.Version)
		case len(e.Key) != keyLength || e.Decision != cardea.Allow && e.Decision != cardea.Ask && e.Decision != cardea.Deny || !(e.Confidence >= 0 && e.Confidence <= 1):
			err = fmt.Errorf("it is no recorded answer")
		}
		if err != nil {
			problems = append(problems, diagnostic.Diagnostic{File: name, Line: i + 1, Code: diagnostic.CodeBadValue, Text: err.Error(), Hint: "record the answers anew"})
			continue
		}
		c.entries[e.Key] = e
	}
	return c, problems
}

const keyLength = 40

// key returns the key of a question to a judge of a name.
func key(asked string, q judge.Question) string {
	h := sha256.New()
	for _, s := range []string{asked, q.System.String(), q.User.String(), string(judge.Schema())} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:keyLength]
}

// replay returns the recorded answer to a question, or false without one.
func (c *Cassette) replay(asked string, q judge.Question) (judge.Assessment, bool) {
	if c == nil {
		return judge.Assessment{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, there := c.entries[key(asked, q)]
	return judge.Assessment{Decision: e.Decision, Confidence: e.Confidence, Reason: e.Reason, Rule: e.Rule, Provider: e.Provider, Model: e.Model,
		TokensIn: e.TokensIn, TokensOut: e.TokensOut, Cost: e.Cost, Priced: e.Priced, Took: time.Duration(e.Millis) * time.Millisecond}, there
}

// record adds an answer.
func (c *Cassette) record(asked, id string, q judge.Question, a judge.Assessment) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key(asked, q)
	c.entries[k] = entry{Version: version, Key: k, Case: id, Provider: a.Provider, Model: a.Model, Said: a.Decision.String(), Decision: a.Decision, Confidence: a.Confidence,
		Reason: a.Reason, Rule: a.Rule, TokensIn: a.TokensIn, TokensOut: a.TokensOut, Cost: a.Cost, Priced: a.Priced, Millis: a.Took.Milliseconds()}
	c.added = true
}

// Changed reports whether answers were added.
func (c *Cassette) Changed() bool { return c != nil && c.added }

// Bytes returns the file form of the cassette: an answer a line, in the order of the cases.
func (c *Cassette) Bytes() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.SortedFunc(maps.Values(c.entries), func(a, b entry) int { return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Key, b.Key)) })
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	for _, e := range all {
		if err := w.Encode(e); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
