// Package store stores the queue of calls that wait for a person in a SQLite database in the state
// folder. Any number of processes use it at the same time, without a daemon. A step that must
// happen only once is one statement of the database, and a process that is killed leaves no lock.
//
// The times of a row, and the use of an answer, are in columns that are not signed: a program of
// the same user that changes the file can have an approved call run twice, and can lose entries. It
// cannot forge an answer, nor move one to another call.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
)

const (
	// MaxPending is the largest number of pending entries. An agent that floods the queue is
	// denied.
	MaxPending = 2000
	// MaxOfSession is the largest number of them from one session, so that it cannot take all
	// places.
	MaxOfSession = 200
	// maxStored is the largest number of stored entries, keepFor how long entries stay that no
	// process waits for.
	maxStored = 10000
	keepFor   = 7 * 24 * time.Hour
	// version is the version of the tables.
	version = 1
	// maxRow is the largest size of a row's text, in bytes.
	maxRow = 4 << 20
)

// Folder is the name of the queue's folder in the state folder.
const Folder = "queue"

// aside is the suffix of a damaged database that was moved aside.
const aside = ".damaged-"

// Path returns the path of the database in a state folder.
func Path(folder string) string { return filepath.Join(folder, Folder, "queue.db") }

// Store is an open queue. It is safe for concurrent use.
type Store struct {
	mu     sync.Mutex
	conn   *sqlite.Conn
	folder string
	key    []byte
	now    func() time.Time
	opened os.FileInfo
	// moved is the new path of a damaged database that was moved aside, or "".
	moved string
}

// Store implements both interfaces.
var (
	_ queue.Queue   = (*Store)(nil)
	_ queue.Waiting = (*Store)(nil)
)

// Open opens the queue of a state folder, and creates a missing one. now returns the time. A
// damaged database is moved aside, and a new one created; see [Store.Moved].
func Open(folder string, now func() time.Time) (*Store, error) {
	key, err := state.LoadKey(folder)
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	s := &Store{folder: folder, key: key, now: now}
	if err := s.open(); err != nil {
		if !isDamage(err) {
			return nil, explain(err)
		}
		if err := s.renew(err); err != nil {
			return nil, explain(err)
		}
	}
	return s, nil
}

// Moved returns the new path of a damaged database that Open moved aside, or "".
func (s *Store) Moved() string { return s.moved }

// Close closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil
	}
	err := s.conn.Close()
	s.conn = nil
	return err
}

// tables creates the tables of a new file. AUTOINCREMENT never gives a number twice, so that an old
// number does not name a new call.
const tables = `
CREATE TABLE IF NOT EXISTS counter (one INTEGER PRIMARY KEY CHECK (one = 1), revision INTEGER NOT NULL);
INSERT OR IGNORE INTO counter VALUES (1, 0);
CREATE TABLE IF NOT EXISTS entries (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	revision INTEGER NOT NULL,
	state TEXT NOT NULL,
	digest TEXT NOT NULL,
	session TEXT NOT NULL,
	ticket INTEGER NOT NULL,
	deadline INTEGER NOT NULL,
	entry BLOB NOT NULL, entry_signature BLOB NOT NULL,
	answer BLOB, answer_signature BLOB,
	usable INTEGER, expires INTEGER, taken INTEGER
);
CREATE INDEX IF NOT EXISTS entries_state ON entries (state, deadline);
CREATE INDEX IF NOT EXISTS entries_revision ON entries (revision);
CREATE INDEX IF NOT EXISTS entries_session ON entries (session, state);
CREATE INDEX IF NOT EXISTS entries_digest ON entries (digest, state);
`

// open opens the database file. It must be a regular file that only the user can access.
func (s *Store) open() (err error) {
	path := Path(s.folder)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	for _, beside := range []string{"-wal", "-shm"} {
		if info, err := os.Lstat(path + beside); err == nil && !info.Mode().IsRegular() {
			return &fs.PathError{Op: "open", Path: path + beside, Err: state.ErrNotRegular}
		}
	}
	f, info, err := state.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	err = f.Chmod(0o600)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, conn.Close())
		}
	}()
	conn.SetBlockOnBusy() // limited by the interrupt of each use
	conn.SetInterrupt(afterwards(limit.QueueWrite))
	defer conn.SetInterrupt(nil)
	for _, p := range []string{"PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", "PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON"} {
		if err := sqlitex.ExecuteTransient(conn, p, nil); err != nil {
			return err
		}
	}
	if err := checkTables(conn, s.behind()); err != nil {
		return err
	}
	s.conn, s.opened = conn, info
	return nil
}

var errNewer = errors.New("a newer Cardea wrote the queue; install that one, or remove the file")

// afterwards returns a channel that is closed after a time.
func afterwards(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}

// number returns the single number that a statement gives.
func number(conn *sqlite.Conn, query string, args ...any) (n int64, err error) {
	err = sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		n = stmt.ColumnInt64(0)
		return nil
	}})
	return n, err
}

// isDamage reports whether an error means that the file is not a database, or a damaged one.
func isDamage(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB
}

// errDamaged is the error of a database with other tables than the queue's.
var errDamaged = sqlite.ResultCorrupt.ToError()

// numbersSince is the time from which the numbers of renewed queues are derived.
var numbersSince = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// behind returns the number after which the numbers of a new queue begin. After a damaged one was
// moved aside, notices about its calls may still be read, and their numbers must not name other
// calls. Its last number is unknown, but was below one a minute.
func (s *Store) behind() int64 {
	files, _ := os.ReadDir(filepath.Dir(Path(s.folder))) // a folder that cannot be read holds no database
	damaged := slices.DeleteFunc(files, func(f fs.DirEntry) bool { return !strings.HasPrefix(f.Name(), filepath.Base(Path(""))+aside) })
	if len(damaged) == 0 {
		return 0
	}
	return int64(s.now().Sub(numbersSince)/time.Minute) + int64(len(damaged))
}

// checkTables ensures that the tables are the queue's. The numbers of a new queue begin after the
// given one.
func checkTables(conn *sqlite.Conn, behind int64) error {
	had, err := number(conn, "PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case had > version:
		return errNewer
	case had < version:
		err = sqlitex.ExecuteScript(conn, tables+fmt.Sprintf("INSERT INTO sqlite_sequence SELECT 'entries', %d WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'entries');"+
			"PRAGMA user_version=%d;", behind, version), nil)
	}
	if err == nil {
		err = sqlitex.ExecuteTransient(conn, columns+"WHERE digest = '' AND session = '' AND ticket = 0 AND deadline = 0 LIMIT 0", nil)
	}
	if err == nil {
		var counters int64
		if counters, err = number(conn, "SELECT count(*) FROM counter"); err == nil && counters != 1 {
			return errDamaged
		}
	}
	if err != nil && sqlite.ErrCode(err) == sqlite.ResultError { // no such table, or no such column
		return errors.Join(errDamaged, err)
	}
	return err
}

// explain adds the way out to an error of the database.
func explain(err error) error {
	for _, own := range []error{queue.ErrUnknown, queue.ErrForged, queue.ErrFull} {
		if errors.Is(err, own) {
			return err
		}
	}
	var hint string
	switch code := sqlite.ErrCode(err).ToPrimary(); {
	case err == nil:
		return nil
	case code == sqlite.ResultFull:
		hint = "the disk is full; make room on it"
	case code == sqlite.ResultBusy || code == sqlite.ResultLocked || code == sqlite.ResultInterrupt:
		hint = "another process holds it; look for one that hangs"
	case code == sqlite.ResultReadOnly || code == sqlite.ResultPerm || code == sqlite.ResultCantOpen || code == sqlite.ResultAuth:
		hint = "look at the owner and the mode of its folder"
	case code == sqlite.ResultIOErr:
		hint = "look at its disk"
	case isDamage(err):
		hint = "the file is damaged; it is made anew the next time"
	default:
		return fmt.Errorf("use the queue: %w", err)
	}
	return fmt.Errorf("use the queue: %s (%w)", hint, err)
}

// renew moves a damaged database aside and creates a new one. Only one of several processes does
// it.
func (s *Store) renew(damage error) error {
	path := Path(s.folder)
	f, err := state.OpenLocked(path+".lock", limit.QueueWrite)
	if err != nil {
		return errors.Join(damage, err)
	}
	defer f.Close()
	if s.opened == nil {
		if err := s.open(); err == nil || !isDamage(err) {
			return err // another process was faster
		}
	} else if info, err := os.Lstat(path); err != nil || !os.SameFile(info, s.opened) {
		return nil // the same
	}
	to := path + aside + s.now().UTC().Format("20060102T150405")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+end, to+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(damage, err)
		}
	}
	s.moved = to
	if s.opened != nil {
		return nil // the next process makes a new one
	}
	return s.open()
}

// use runs f with the connection, for at most the time of ctx and the limit.
func (s *Store) use(ctx context.Context, f func(*sqlite.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit.QueueWrite)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return errors.New("use the queue: it is closed, or was damaged; try again")
	}
	s.conn.SetInterrupt(ctx.Done())
	err := f(s.conn)
	s.conn.SetInterrupt(nil)
	if code := sqlite.ErrCode(err).ToPrimary(); code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB {
		err = errors.Join(err, s.conn.Close(), s.renew(nil))
		s.conn = nil
	}
	return explain(err)
}

// change runs f in a transaction that excludes other writers.
func (s *Store) change(ctx context.Context, f func(conn *sqlite.Conn, revision int64) error) error {
	return s.use(ctx, func(conn *sqlite.Conn) (err error) {
		end, err := sqlitex.ImmediateTransaction(conn)
		if err != nil {
			return err
		}
		defer end(&err)
		revision, err := number(conn, "UPDATE counter SET revision = revision + 1 RETURNING revision")
		if err != nil {
			return err
		}
		return f(conn, revision)
	})
}

// nonce returns a random value, which makes an entry different from every other one.
func nonce() []byte {
	out := make([]byte, 16)
	_, _ = rand.Read(out) // ends the process rather than fail
	return out
}
