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
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/memory/ledger"
)

// recorder writes what is answered to one message into the ledger of a place. It
// holds only copies, so that the watchdog can use it at any time.
type recorder struct {
	state, dir string
	// known is the key as it was read for the session of this call; nil: it was not.
	known    []byte
	settings settings.Ledger
	redactor *redact.Redactor
	now      func() time.Time
	group    *ledger.Group
	// begin is when the process began with the call.
	begin time.Time
	// written is set by who writes the entry: there is one, whoever comes first.
	written atomic.Bool
}

// ledgerDir is the folder of the ledger in a place, and why it is not the one
// that the settings name, or "".
func (p Process) ledgerDir(pl *Place, s settings.Ledger) (dir, why string) {
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

// recorderOf makes the recorder of a place. What a person must learn of is kept
// with the place.
func (h *Hook) recorderOf(pl *Place, s settings.Ledger) *recorder {
	dir, why := h.process.ledgerDir(pl, s)
	if why != "" {
		pl.tell(why)
	}
	return &recorder{state: pl.State, known: pl.Session.Key(), dir: dir, settings: s, redactor: h.Redactor, now: h.process.Now, group: h.process.Group, begin: h.begin}
}

// record writes an answer down, and gives the id of the entry, "" where there
// is none. The answer's troubles are all of them, including those that the person
// has seen before. What goes wrong is for the person, and changes no answer.
func (r *recorder) record(ev *cardea.Event, a cardea.Answer, late func() bool) (id string, problems cardea.Troubles) {
	defer func() {
		if p := recover(); p != nil {
			id, problems = "", cardea.Troubles{cardea.Unwritten.Trouble(r.dir, cardea.CodeInternal, "please report it", fmt.Sprintf("the call is not recorded: internal error: %v", p))}
		}
	}()
	levels := ledger.Levels(r.settings.Levels)
	if denied := ev.Review != nil && ev.Review.Effect == cardea.Deny; !levels.Keeps(a.Effect) && !levels.Keeps(a.Decided) && (!denied || !levels.Deny) {
		return "", nil
	}
	key, err := r.key()
	if err != nil {
		return "", r.troubles(fmt.Errorf("the call is not recorded: %w", err))
	}
	l, err := ledger.Open(r.dir, ledger.Options{Key: key, Redactor: r.redactor, Levels: levels,
		KeepDays: r.settings.KeepDays, MaxMB: r.settings.MaxMB, Now: r.now, Group: r.group})
	if err != nil {
		return "", r.troubles(err)
	}
	now := r.now()
	e := ledger.NewEntry(ev, a.Verdict, ledger.Circumstances{Decided: a.Decided, Limits: a.Limits, Redactor: r.redactor, Key: key, Now: now, Took: now.Sub(r.begin), Version: ThisVersion(), Late: late})
	if !r.written.CompareAndSwap(false, true) {
		return "", nil
	}
	if err := l.Append(e); err != nil {
		if problems = r.troubles(err); problems[0].Failure == cardea.Unwritten {
			return "", problems
		}
	}
	return e.ID, problems
}

// key is the user's, nil where there is no folder for one; the ledger says
// then what is missing.
func (r *recorder) key() ([]byte, error) {
	if r.state == "" || r.known != nil {
		return r.known, nil
	}
	return state.LoadKey(r.state)
}

// troubles are an error of the ledger as the person is told it.
func (r *recorder) troubles(err error) cardea.Troubles {
	t := cardea.Unwritten.Trouble("", cardea.CodeUnwritten, "", err.Error())
	_ = errors.As(err, &t) // another error is told as it is
	t.Diagnostic.File = r.dir
	return cardea.Troubles{t}
}

// LedgerOf opens the ledger of a place for reading.
func LedgerOf(p Process, pl *Place, s settings.Ledger) (*ledger.Ledger, error) {
	dir, why := p.ledgerDir(pl, s)
	if why != "" {
		pl.tell(why)
	}
	if dir == "" || pl.State == "" {
		return nil, errors.New("there is no state folder with a ledger; set HOME or XDG_STATE_HOME")
	}
	key, err := state.ReadKey(pl.State)
	if errors.Is(err, fs.ErrNotExist) {
		// Nothing was ever signed; with a key of nobody, whatever lies in the
		// folder is shown as what it is: not the ledger's.
		key = make([]byte, state.KeySize)
		_, err = rand.Read(key)
	}
	if err != nil {
		return nil, err
	}
	return ledger.Open(dir, ledger.Options{Key: key, Redactor: redact.New(), Levels: ledger.Levels(s.Levels),
		KeepDays: s.KeepDays, MaxMB: s.MaxMB, Now: p.Now})
}
