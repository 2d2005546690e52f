// Package usage remembers, for all processes of a user together, what was spent on the
// questions to models, and which providers failed of late. So budgets hold for 64
// processes as for one, and a provider that is dead costs nothing.
//
// Every request to a provider is claimed before it is sent ([Book.Begin]) and settled
// after it ([Claim.End]). A claim takes from the budget what the request may cost at
// most. A process that dies in between has spent that.
//
// The file is signed with the user's key. Against programs of the same user, which can
// remove it, only the limits that the provider itself sets for a key help.
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
	// maxFile bounds the file in bytes.
	maxFile = 1 << 20
	// lockWait is how long a process waits for others. Each holds the lock for the time
	// of one small file.
	lockWait = time.Second
)

// Book is the file of a state folder.
type Book struct {
	folder string
	now    func() time.Time
}

// Open gives the book of a state folder. It reads nothing yet.
func Open(stateFolder string, now func() time.Time) *Book {
	return &Book{folder: stateFolder, now: now}
}

func (b *Book) path() string { return filepath.Join(b.folder, "judge", "usage") }

// Request is a request that is about to be sent.
type Request struct {
	// Provider is asked, for Session.
	Provider judge.Provider
	Session  string
	// Tokens and Cost are the most that it can take. Priced is false where the cost is not
	// known.
	Tokens int
	Cost   judge.Money
	Priced bool
}

// Claim is a request that may be sent.
type Claim struct {
	book     *Book
	provider string
	session  string
	day      string
	tokens   int
	cost     judge.Money
	// probe is when the provider may be tried by somebody else, zero where this is no
	// trial.
	probe time.Time
}

// PausedError is the error of a request to a provider that failed before.
type PausedError struct {
	// Until is when it is tried again. Trial is set where another process tries it now.
	Until time.Time
	Trial bool
	left  time.Duration
}

// Error says when it is tried again.
func (e *PausedError) Error() string {
	if e.Trial {
		return "it failed before, and another process is trying it now"
	}
	return fmt.Sprintf("it failed before and is tried again in %s", e.left.Round(time.Second))
}

// SpentError is the error of a request that a budget does not allow.
type SpentError struct{ Why string }

// Error says which budget, and what to do.
func (e *SpentError) Error() string { return e.Why }

// Begin claims a request. The error is a *[PausedError], a *[SpentError], or that of the
// file; then nothing may be sent.
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

// Paused says until when calls leave a provider alone, since it failed; nil where they ask
// it. It changes nothing.
func (b *Book) Paused(p judge.Provider) *PausedError {
	key, err := state.ReadKey(b.folder)
	if err != nil {
		return nil // nothing was kept
	}
	f, err := b.read(key)
	if err != nil {
		return nil // it is begun anew
	}
	return f.Providers[nameOf(key, p)].paused(b.now())
}

// nameOf names a provider in the file.
func nameOf(key []byte, p judge.Provider) string {
	return digest(key, "provider", p.Type+"\n"+p.Endpoint+"\n"+p.Model)
}

// Outcome is what came of a request.
type Outcome struct {
	// Unsent is set where the provider was not reached: it cost nothing.
	Unsent bool
	// Known is set where it is known what it took: Tokens and Cost.
	Known  bool
	Tokens int
	Cost   judge.Money
	Health Health
	// RetryAfter is how long the provider does not want to be asked, 0 where it does not
	// say.
	RetryAfter time.Duration
}

// Health is what a request tells about its provider.
type Health int

// What a request tells.
const (
	// Unclear: it was given up too early to tell.
	Unclear Health = iota
	// Alive: it answered, if only with a refusal.
	Alive
	// Failed: it did not.
	Failed
)

// End settles a claim. The error is that of the file; what was claimed stays spent then.
func (c *Claim) End(ctx context.Context, o Outcome) error {
	return c.book.change(ctx, true, func(_ []byte, f *file) error {
		now := c.book.now()
		f.turn(now)
		f.settle(c, o)
		f.judge(now, c, o)
		return nil
	})
}

// change changes the file under its lock. One that cannot be believed is begun anew, but an
// error if something depends on what it said.
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

// read reads the file; one that is not there is empty.
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

// digest names something in the file: what a session or an endpoint is called may tell
// something.
func digest(key []byte, what, name string) string {
	return hex.EncodeToString(state.Sign(key, "name in the judge's usage", []byte(what), []byte(name))[:12])
}
