package hook

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/memory/ledger"
)

// recorder writes the answer to one message into the ledger of a place. It holds only
// copies, so that the watchdog can use it at any time.
type recorder struct {
	state, dir string
	// known is the key as read for the session of this call, or nil.
	known    []byte
	settings settings.Ledger
	redactor *redact.Redactor
	now      func() time.Time
	group    *ledger.Group
	// begin is the time at which the run started.
	begin time.Time
	// written is set by the goroutine that writes the entry, so that only one is written.
	written atomic.Bool
}

// ledgerDir returns the folder of the ledger in a place. why is the reason why it differs
// from the setting, or "".
func (p Process) ledgerDir(pl *Location, s settings.Ledger) (dir, why string) {
	standard := ""
	if pl.State != "" {
		standard = filepath.Join(pl.State, "ledger")
	}
	if s.Dir == "" {
		return standard, ""
	}
	if why := p.Machine.RefuseState(s.Dir, pl.Project, pl.Dirs.Home); why != "" {
		return standard, fmt.Sprintf("the folder %s of ledger.dir %s, so the ledger of this place is kept in the state folder; name a folder of yours outside of the project", s.Dir, why)
	}
	return s.Dir, ""
}

// recorderOf returns the recorder of a place. It adds warnings to the place.
func (h *Hook) recorderOf(pl *Location, s settings.Ledger) *recorder {
	dir, why := h.process.ledgerDir(pl, s)
	if why != "" {
		pl.tell(why)
	}
	return &recorder{state: pl.State, known: pl.Session.Key(), dir: dir, settings: s, redactor: h.Redactor, now: h.process.Now, group: h.process.Group, begin: h.begin}
}

// record writes an answer to the ledger and returns the id of the entry, "" if none was
// written. The answer's problems must include those that the person has already seen. The
// returned problems are for the person and change no answer.
func (r *recorder) record(ev *cardea.Event, a cardea.Answer, late func() bool) (id string, problems cardea.Issues) {
	defer func() {
		if p := recover(); p != nil {
			id, problems = "", cardea.Issues{cardea.Unwritten.Issue(r.dir, diagnostic.CodeInternal, "please report it", fmt.Sprintf("the call is not recorded: internal error: %v", p))}
		}
	}()
	levels := ledger.Levels(r.settings.Levels)
	if denied := ev.Review != nil && ev.Review.Effect == cardea.Deny; !levels.Keeps(a.Effect) && !levels.Keeps(a.Decided) && (!denied || !levels.Deny) {
		return "", nil
	}
	key, err := r.key()
	if err != nil {
		return "", r.issues(fmt.Errorf("the call is not recorded: %w", err))
	}
	l, err := ledger.Open(r.dir, ledger.Options{Key: key, Redactor: r.redactor, Levels: levels,
		KeepDays: r.settings.KeepDays, MaxMB: r.settings.MaxMB, Now: r.now, Group: r.group})
	if err != nil {
		return "", r.issues(err)
	}
	now := r.now()
	e := ledger.NewEntry(ev, a.Verdict, ledger.Circumstances{Decided: a.Decided, Limits: a.Limits, Redactor: r.redactor, Key: key, Now: now, Took: now.Sub(r.begin), Version: ThisVersion(), Late: late})
	if !r.written.CompareAndSwap(false, true) {
		return "", nil
	}
	if err := l.Append(e); err != nil {
		if problems = r.issues(err); problems[0].Failure == cardea.Unwritten {
			return "", problems
		}
	}
	return e.ID, problems
}

// key returns the user's key, or nil without a state folder. The ledger then reports what
// is missing.
func (r *recorder) key() ([]byte, error) {
	if r.state == "" || r.known != nil {
		return r.known, nil
	}
	return state.LoadKey(r.state)
}

// issues returns an error of the ledger as a problem for the person.
func (r *recorder) issues(err error) cardea.Issues {
	t := cardea.Unwritten.Issue("", diagnostic.CodeUnwritten, "", err.Error())
	_ = errors.As(err, &t) // other errors are reported as they are
	t.Diagnostic.File = r.dir
	return cardea.Issues{t}
}

// LedgerOf opens the ledger of a place for reading.
func LedgerOf(p Process, pl *Location, s settings.Ledger) (*ledger.Ledger, error) {
	dir, why := p.ledgerDir(pl, s)
	if why != "" {
		pl.tell(why)
	}
	if dir == "" || pl.State == "" {
		return nil, errors.New("there is no state folder with a ledger; set HOME or XDG_STATE_HOME")
	}
	key, err := state.ReadKey(pl.State)
	if errors.Is(err, fs.ErrNotExist) {
		// Nothing was ever signed. With a random key, files in the folder show as not the ledger's.
		key = make([]byte, state.KeySize)
		_, err = rand.Read(key)
	}
	if err != nil {
		return nil, err
	}
	return ledger.Open(dir, ledger.Options{Key: key, Redactor: redact.New(), Levels: ledger.Levels(s.Levels),
		KeepDays: s.KeepDays, MaxMB: s.MaxMB, Now: p.Now})
}
