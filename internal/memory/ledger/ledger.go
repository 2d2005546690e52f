package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// Store is the interface of a ledger for the rest of the program. The package conformance documents
// and tests its contract.
type Store interface {
	// Keeps reports whether entries of an effect are stored at all. Callers check it before they
	// build an entry.
	Keeps(cardea.Effect) bool
	// Append writes an entry. An error is a [cardea.Issue] for the person
	// and changes no verdict.
	Append(Entry) error
	// Search yields the lines that match a query, the last written first. An error in place of a
	// line reports what could not be read; the search goes on.
	Search(Query) iter.Seq2[Line, error]
	// Get returns the line with the given id, or [ErrNoEntry].
	Get(id string) (Line, error)
	// Verify looks for all changes that the ledger did not make itself. An error means that the
	// check itself failed.
	Verify() (Report, error)
}

// ErrNoEntry is the error for an id without entry.
var ErrNoEntry = errors.New("there is no such entry")

// Levels selects the verdicts to store (the setting ledger.levels). Deny includes every verdict
// that holds a call back: deny, halt and ask. Abstain includes the verdicts that leave the call to
// the harness: abstain and defer.
type Levels struct{ Allow, Abstain, Deny bool }

// AllLevels returns the default, which stores every verdict.
func AllLevels() Levels { return Levels{Allow: true, Abstain: true, Deny: true} }

// Keeps reports whether a verdict of this effect is stored.
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

// Options are the settings of a ledger and its dependencies.
type Options struct {
	// Key is the user's key, from [state.LoadKey].
	Key []byte
	// Redactor redacts texts again when they are read.
	Redactor *redact.Redactor
	Levels   Levels
	// KeepDays is the number of days to keep before today; 0 keeps all.
	KeepDays int
	// MaxMB is the size limit of the ledger in MiB, at which older days are removed early; 0 sets
	// no limit. Today's file is never removed. If that file alone reaches the limit, nothing more
	// is written until tomorrow.
	MaxMB int
	// Now returns the time.
	Now func() time.Time
	// Group combines concurrent writes; nil writes each entry by itself.
	Group *Group
}

// Ledger is the ledger in a folder. Any number of processes may have it open.
type Ledger struct {
	dir string
	opt Options

	// Test seams: locked runs while the lock is held, wrote after a line is in its file and before
	// the head is written.
	locked, wrote func()
}

// Open returns the ledger in a folder. It does not touch the disk; the first line creates the
// folder.
func Open(dir string, o Options) (*Ledger, error) {
	switch {
	case dir == "":
		return nil, cardea.Unwritten.Issue("", diagnostic.CodeUnwritten, "set HOME or XDG_STATE_HOME, or ledger.dir in your settings", "there is no folder for the ledger, so nothing is recorded")
	case len(o.Key) != state.KeySize:
		return nil, unwritten(dir, "look at the file key in the state folder", "there is no key for the ledger, so nothing is recorded")
	case o.Now == nil || o.Redactor == nil:
		return nil, errors.New("a ledger needs a clock and a redactor")
	}
	return &Ledger{dir: dir, opt: o, locked: func() {}, wrote: func() {}}, nil
}

// Keeps implements [Store].
func (l *Ledger) Keeps(e cardea.Effect) bool { return l.opt.Levels.Keeps(e) }

// Append implements [Store]. It takes little longer than [limit.LedgerWrite], whatever other
// processes do.
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

// spooled leaves an entry for the next writer, since the ledger is locked. With an error, the
// ledger cannot be locked at all.
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

// after applies retention after a write, and reports a repaired ledger as a warning.
func (w *writer) after() error {
	l := w.ledger
	if w.turned || w.grown {
		if err := l.retain(w.head.Day); err != nil {
			return unwritten(l.dir, "", "the ledger keeps more than it should: %v", err)
		}
	}
	if w.repaired != "" {
		return cardea.Warning(l.dir, CodeRepaired, "run \"cardea audit verify\"", fmt.Sprintf("the ledger was changed behind cardea's back (%s)", mendings(w.repaired)))
	}
	return nil
}

const lookAtFolder = "look at the owner and the space of the folder"

func unwritten(dir, hint, format string, args ...any) error {
	return cardea.Unwritten.Issue(dir, diagnostic.CodeUnwritten, hint, fmt.Sprintf(format, args...))
}

// lock opens the head, which is also the lock file, and waits for the lock.
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
		// If the file was replaced in the meantime, another process may hold the lock of the new
		// one.
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
