package conformance_test

import (
	"errors"
	"iter"
	"path/filepath"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/ledger/conformance"
)

func opener(t *testing.T) conformance.Open {
	return func(levels ledger.Levels, clock *conformance.Clock) (ledger.Store, error) {
		return ledger.Open(filepath.Join(t.TempDir(), "ledger"), ledger.Options{Key: make([]byte, 32), Redactor: redact.New(),
			Levels: levels, KeepDays: 30, MaxMB: 256, Now: clock.Now})
	}
}

func TestLedger(t *testing.T) { conformance.Run(t, opener(t)) }

// broken is a store with one mistake.
type broken struct {
	ledger.Store
	append func(ledger.Store, ledger.Entry) error
	search func(ledger.Store, ledger.Query) iter.Seq2[ledger.Line, error]
	get    func(ledger.Store, string) (ledger.Line, error)
	verify func(ledger.Store) (ledger.Report, error)
	keeps  func(cardea.Effect) bool
}

func (b broken) Append(e ledger.Entry) error {
	if b.append != nil {
		return b.append(b.Store, e)
	}
	return b.Store.Append(e)
}

func (b broken) Search(q ledger.Query) iter.Seq2[ledger.Line, error] {
	if b.search != nil {
		return b.search(b.Store, q)
	}
	return b.Store.Search(q)
}

func (b broken) Get(id string) (ledger.Line, error) {
	if b.get != nil {
		return b.get(b.Store, id)
	}
	return b.Store.Get(id)
}

func (b broken) Verify() (ledger.Report, error) {
	if b.verify != nil {
		return b.verify(b.Store)
	}
	return b.Store.Verify()
}

func (b broken) Keeps(e cardea.Effect) bool {
	if b.keeps != nil {
		return b.keeps(e)
	}
	return b.Store.Keeps(e)
}

// The conformance test is tested on stores that do not conform.
func TestConformanceBites(t *testing.T) {
	without := func(strip func(*ledger.Query)) broken {
		return broken{search: func(s ledger.Store, q ledger.Query) iter.Seq2[ledger.Line, error] { strip(&q); return s.Search(q) }}
	}
	for name, b := range map[string]broken{
		"loses allows": {append: func(s ledger.Store, e ledger.Entry) error {
			if e.Effect == cardea.Allow {
				return nil
			}
			return s.Append(e)
		}},
		"loses the reason": {append: func(s ledger.Store, e ledger.Entry) error { e.Reason = redact.Text{}; return s.Append(e) }},
		"takes every id": {append: func(s ledger.Store, e ledger.Entry) error {
			if e.ID == "" {
				return nil
			}
			return s.Append(e)
		}},
		"fails otherwise": {append: func(s ledger.Store, e ledger.Entry) error {
			if err := s.Append(e); err != nil {
				return errors.New("no")
			}
			return nil
		}},
		"forgets the limit":    without(func(q *ledger.Query) { q.Limit = 0 }),
		"forgets since":        without(func(q *ledger.Query) { q.Since = q.Since.AddDate(-1, 0, 0) }),
		"forgets the session":  without(func(q *ledger.Query) { q.Session = "" }),
		"forgets the effect":   without(func(q *ledger.Query) { q.Effects = nil }),
		"forgets the rule":     without(func(q *ledger.Query) { q.Rule = "" }),
		"forgets the decider":  without(func(q *ledger.Query) { q.Decider = "" }),
		"forgets the text":     without(func(q *ledger.Query) { q.Text = "" }),
		"gives what is absent": {get: func(ledger.Store, string) (ledger.Line, error) { return ledger.Line{}, nil }},
		"another error":        {get: func(ledger.Store, string) (ledger.Line, error) { return ledger.Line{}, errors.New("no") }},
		"verifies nothing":     {verify: func(ledger.Store) (ledger.Report, error) { return ledger.Report{}, nil }},
		"keeps all":            {keeps: func(cardea.Effect) bool { return true }},
		"oldest first": {search: func(s ledger.Store, q ledger.Query) iter.Seq2[ledger.Line, error] {
			return func(yield func(ledger.Line, error) bool) {
				var all []ledger.Line
				for l := range s.Search(q) {
					all = append([]ledger.Line{l}, all...)
				}
				for _, l := range all {
					if !yield(l, nil) {
						return
					}
				}
			}
		}},
	} {
		open := opener(t)
		problems := conformance.Problems(func(l ledger.Levels, c *conformance.Clock) (ledger.Store, error) {
			s, err := open(l, c)
			b.Store = s
			return b, err
		})
		if len(problems) == 0 {
			t.Errorf("a store that %s conforms", name)
		}
	}
	if len(conformance.Problems(func(ledger.Levels, *conformance.Clock) (ledger.Store, error) { return nil, errors.New("no") })) == 0 {
		t.Error("a store that cannot be opened conforms")
	}
}
