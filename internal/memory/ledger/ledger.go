package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// Store is what the rest of the program sees of a ledger. What every store must
// do is told, and tested, by the package conformance.
type Store interface {
	// Keeps reports whether entries of an effect are kept at all, so that
	// nobody makes an entry for nothing.
	Keeps(cardea.Effect) bool
	// Append writes an entry. An error is a [cardea.Trouble] for the person
	// and changes no verdict.
	Append(Entry) error
	// Search gives the lines that answer a query, the last written first. An
	// error in their place tells what could not be read; the search goes on.
	Search(Query) iter.Seq2[Line, error]
	// Get gives the line of an id. Where there is none the error is
	// [ErrNoEntry].
	Get(id string) (Line, error)
	// Verify looks for everything that was changed behind the ledger's back.
	// An error means that it could not look.
	Verify() (Report, error)
}

// ErrNoEntry is the error where no entry has the id that was asked for.
var ErrNoEntry = errors.New("there is no such entry")

// Levels says which verdicts are kept (the setting ledger.levels). Deny counts
// for whatever holds a call back: deny, halt and ask. Abstain counts for what
// leaves it to the harness: abstain and defer.
type Levels struct{ Allow, Abstain, Deny bool }

// AllLevels is the default.
func AllLevels() Levels { return Levels{Allow: true, Abstain: true, Deny: true} }

// Keeps reports whether a verdict is kept.
func (l Levels) Keeps(e cardea.Effect) bool {
	switch e {
	case cardea.Allow:
		return l.Allow
	case cardea.Abstain, cardea.Defer:
		return l.Abstain
	default:
		return l.Deny
	}
}

// Options are the settings of a ledger and what it needs of the process.
type Options struct {
	// Key is the user's key, from [state.LoadKey].
	Key []byte
	// Redactor redacts again what is read.
	Redactor *redact.Redactor
	Levels   Levels
	// KeepDays is how many days are kept, today not counted; 0 keeps all.
	KeepDays int
	// MaxMB is how large the ledger grows, in MiB, before days are removed
	// that were to be kept; 0 sets no limit. Today's file is never removed:
	// when it alone is that large, nothing more is written until tomorrow.
	MaxMB int
	// Now is the clock.
	Now func() time.Time
	// Group writes the entries together that come at the same time; nil writes each by itself.
	Group *Group
}

// Ledger is the ledger in a folder. Any number of processes may have it open.
type Ledger struct {
	dir string
	opt Options

	// Seams for tests: locked runs while the lock is held, wrote after a line
	// is in its file, before the head tells of it.
	locked, wrote func()
}

// Open gives the ledger in a folder. It touches nothing; the folder is made by
// the first line.
func Open(dir string, o Options) (*Ledger, error) {
	switch {
	case dir == "":
		return nil, cardea.Unwritten.Trouble("", cardea.CodeUnwritten, "set HOME or XDG_STATE_HOME, or ledger.dir in your settings", "there is no folder for the ledger, so nothing is recorded")
	case len(o.Key) != state.KeySize:
		return nil, unwritten(dir, "look at the file key in the state folder", "there is no key for the ledger, so nothing is recorded")
	case o.Now == nil || o.Redactor == nil:
		return nil, errors.New("a ledger needs a clock and a redactor")
	}
	return &Ledger{dir: dir, opt: o, locked: func() {}, wrote: func() {}}, nil
}

// Keeps implements [Store].
func (l *Ledger) Keeps(e cardea.Effect) bool { return l.opt.Levels.Keeps(e) }

// Append implements [Store]. It takes at most little longer than [limit.LedgerWrite],
// whatever other processes do.
func (l *Ledger) Append(e Entry) error {
	if denied := e.Review.String() == cardea.Deny.String(); !l.Keeps(e.Effect) && (!denied || !l.Keeps(cardea.Deny)) {
		return nil
	}
	body, err := e.encode()
	if err != nil {
		return unwritten(l.dir, "", "the call is not recorded: %v", err)
	}
	return l.opt.Group.append(l, e.ID, body)
}

// spooled leaves an entry for the next writer, since the ledger is locked or, with an
// error, cannot be.
func (w *waiter) spooled(err error) error {
	l := w.ledger
	if e := l.spool(w.id, w.body); e != nil {
		return unwritten(l.dir, lookAtFolder, "the call is not recorded: %v", cmp.Or(err, e))
	}
	if err != nil {
		return unwritten(l.dir, "put the ledger on a local disk (ledger.dir)", "the ledger cannot be locked: %v, so what is to be recorded collects in its folder %s", err, spoolName)
	}
	return nil
}

// after does what is to be done when lines were written, and tells what was mended.
func (w *writer) after() error {
	l := w.ledger
	if w.turned || w.grown {
		if err := l.retain(w.head.Day); err != nil {
			return unwritten(l.dir, "", "the ledger keeps more than it should: %v", err)
		}
	}
	if w.mended != "" {
		return cardea.Warning(l.dir, CodeMended, "run \"cardea audit verify\"", fmt.Sprintf("the ledger was changed behind cardea's back (%s)", mendings(w.mended)))
	}
	return nil
}

const lookAtFolder = "look at the owner and the space of the folder"

func unwritten(dir, hint, format string, args ...any) error {
	return cardea.Unwritten.Trouble(dir, cardea.CodeUnwritten, hint, fmt.Sprintf(format, args...))
}

// lock opens the head, which is the lock as well, and waits for it.
func (l *Ledger) lock(wait time.Duration, flag int) (*writer, error) {
	end := time.Now().Add(wait)
	for {
		f, _, err := state.Open(l.path(headName), flag)
		if errors.Is(err, os.ErrNotExist) && flag&os.O_CREATE != 0 {
			if err = os.MkdirAll(l.dir, 0o700); err == nil {
				f, _, err = state.Open(l.path(headName), flag)
			}
		}
		if err != nil {
			return nil, err
		}
		if err := state.Lock(f, time.Until(end)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// Who removes the file that others wait for would let two in.
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if now, err := os.Lstat(l.path(headName)); err == nil && os.SameFile(mine, now) {
			return &writer{ledger: l, headFile: f}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		if time.Until(end) <= 0 {
			return nil, state.ErrBusy
		}
	}
}
