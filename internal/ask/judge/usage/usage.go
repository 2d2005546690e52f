// Package usage records, for all processes of a user together, the spending on questions to models,
// and recent failures of providers. So budgets hold for 64 processes as for one, and a dead
// provider costs no time.
//
// Every request to a provider is claimed before it is sent ([Book.Begin]) and settled after it
// ([Claim.End]). A claim takes the largest possible cost of the request from the budget. If a
// process dies in between, that amount is spent.
//
// The file is signed with the user's key. Programs of the same user can remove it. Against them,
// only the limits that the provider itself sets for a key help.
package usage

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/state"
)

const (
	purpose = "usage of the judge"
	// maxFile is the largest size of the file, in bytes.
	maxFile = 1 << 20
	// lockWait is how long a process waits for others. Each holds the lock for the time of one
	// small file.
	lockWait = time.Second
)

// Book is the file of a state folder.
type Book struct {
	folder string
	now    func() time.Time
}

// Open returns the book of a state folder. It reads nothing yet.
func Open(stateFolder string, now func() time.Time) *Book {
	return &Book{folder: stateFolder, now: now}
}

func (b *Book) path() string { return filepath.Join(b.folder, "judge", "usage") }

// Request is a request that is about to be sent.
type Request struct {
	// Provider is the provider to ask, for Session.
	Provider judge.Provider
	Session  string
	// Tokens and Cost are the largest possible numbers. Priced is false for an unknown cost.
	Tokens int
	Cost   judge.Money
	Priced bool
}

// Claim is a claim for a request, which may then be sent.
type Claim struct {
	book     *Book
	provider string
	session  string
	day      string
	tokens   int
	cost     judge.Money
	// probe is the time from which another process may try the provider, zero if this request is
	// not a trial.
	probe time.Time
}

// PausedError is the error of a request to a provider that failed before.
type PausedError struct {
	// Until is the time of the next trial. Trial is set if another process is trying it now.
	Until time.Time
	Trial bool
	left  time.Duration
}

// Error names the time of the next trial.
func (e *PausedError) Error() string {
	if e.Trial {
		return "it failed before, and another process is trying it now"
	}
	return fmt.Sprintf("it failed before and is tried again in %s", e.left.Round(time.Second))
}

// SpentError is the error of a request that a budget does not allow.
type SpentError struct{ Why string }

// Error names the budget, and the way out.
func (e *SpentError) Error() string { return e.Why }

// Begin claims a request. The error is a *[PausedError], a *[SpentError], or that of the file.
// After an error, the request must not be sent.
func (b *Book) Begin(ctx context.Context, r Request, budget judge.Budget) (*Claim, error) {
	var claim *Claim
	err := b.change(ctx, !budget.None(), func(key []byte, f *file) (err error) {
		now := b.now()
		f.turn(now)
		c := &Claim{book: b, provider: nameOf(key, r.Provider),
			session: digest(key, "session", r.Session), day: f.Day, tokens: r.Tokens, cost: r.Cost}
		if err := f.afford(now, c.session, r, budget); err != nil {
			return err
		}
		if c.probe, err = f.admit(now, c.provider, r.Provider.Timeout); err != nil {
			return err
		}
		f.spend(c, now)
		claim = c
		return nil
	})
	return claim, err
}

// Paused returns the pause of a provider, nil if calls ask it. It changes nothing.
func (b *Book) Paused(p judge.Provider) *PausedError {
	key, err := state.ReadKey(b.folder)
	if err != nil {
		return nil // nothing was stored
	}
	f, err := b.read(key)
	if err != nil {
		return nil // the next change starts a new file
	}
	return f.Providers[nameOf(key, p)].paused(b.now())
}

// nameOf returns the key of a provider in the file.
func nameOf(key []byte, p judge.Provider) string {
	return digest(key, "provider", p.Type+"\n"+p.Endpoint+"\n"+p.Model)
}

// Outcome is the result of a request.
type Outcome struct {
	// Unsent is set where the provider was not reached: the request cost nothing.
	Unsent bool
	// Known is set where Tokens and Cost are known.
	Known  bool
	Tokens int
	Cost   judge.Money
	Health Health
	// RetryAfter is the delay that the provider asks for, 0 for none.
	RetryAfter time.Duration
}

// Health is the state of a provider, as a request shows it.
type Health int

// The values of Health.
const (
	// Unclear: the request was given up too early.
	Unclear Health = iota
	// Alive: the provider answered, even if with a refusal.
	Alive
	// Failed: the provider did not answer.
	Failed
)

// End settles a claim. The error is that of the file; the claimed amount then stays spent.
func (c *Claim) End(ctx context.Context, o Outcome) error {
	return c.book.change(ctx, true, func(_ []byte, f *file) error {
		now := c.book.now()
		f.turn(now)
		f.settle(c, o)
		f.judge(now, c, o)
		return nil
	})
}

// change changes the file under its lock. It replaces a forged or damaged file by a new one. With
// the second argument true, such a file is an error, since the decision depends on its contents.
func (b *Book) change(ctx context.Context, believed bool, do func(key []byte, f *file) error) error {
	key, err := state.LoadKey(b.folder)
	if err != nil {
		return fmt.Errorf("what the judge spends cannot be kept: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(b.path()), 0o700); err != nil {
		return fmt.Errorf("what the judge spends cannot be kept: %w", err)
	}
	lock, _, err := state.Open(b.path()+".lock", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return fmt.Errorf("what the judge spends cannot be kept: %w", err)
	}
	defer lock.Close()
	wait := lockWait
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end))
	}
	if err := state.Lock(lock, wait); err != nil {
		return fmt.Errorf("what the judge spends cannot be kept: %w", err)
	}
	f, err := b.read(key)
	if err != nil && believed || errors.Is(err, errNewer) {
		return fmt.Errorf("what the judge spent today is not known: %w; remove %s to begin anew", err, b.path())
	}
	if err := do(key, &f); err != nil {
		return err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := state.WriteSigned(b.path(), key, purpose, "", text); err != nil {
		return fmt.Errorf("what the judge spends cannot be kept: %w", err)
	}
	return nil
}

// errNewer is the error of a file that must not be replaced.
var errNewer = errors.New("a newer Cardea wrote it")

// read returns the contents of the file; a missing file is empty.
func (b *Book) read(key []byte) (file, error) {
	text, err := state.ReadSigned(b.path(), key, purpose, "", maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err != nil {
		return file{}, err
	}
	var f file
	err = json.Unmarshal(text, &f)
	if err == nil && f.Version > version {
		return file{}, errNewer
	}
	if err != nil || f.Version != version {
		return file{}, errors.New("it is of another version")
	}
	return f, nil
}

// digest returns a name for the file, since the name of a session or an endpoint may reveal
// something.
func digest(key []byte, what, name string) string {
	return hex.EncodeToString(state.Sign(key, "name in the judge's usage", []byte(what), []byte(name))[:12])
}
