package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/state"
)

// columns selects the columns that [Store.read] reads.
const columns = "SELECT id, revision, state, entry, entry_signature, answer, answer_signature, taken FROM entries "

// row is an entry as read, with its signature.
type row struct {
	queue.Entry
	signature []byte
}

// rows reads rows, without forged ones.
func (s *Store) rows(conn *sqlite.Conn, where string, args ...any) (out []row, err error) {
	err = sqlitex.Execute(conn, columns+where, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		r, err := s.read(stmt)
		if errors.Is(err, queue.ErrForged) {
			return nil
		}
		out = append(out, r)
		return err
	}})
	return out, err
}

// read reads a row. A row without a valid signature is an error.
func (s *Store) read(stmt *sqlite.Stmt) (r row, err error) {
	blob := func(name string) []byte {
		b := make([]byte, min(stmt.GetLen(name), maxRow))
		stmt.GetBytes(name, b)
		return b
	}
	r.signature = blob("entry_signature")
	r.Entry, err = queue.Unseal(s.key, stmt.GetInt64("id"), blob("entry"), r.signature)
	if err != nil {
		return r, err
	}
	r.State, r.Revision = queue.State(stmt.GetText("state")), stmt.GetInt64("revision")
	if r.State == queue.Answered {
		a, err := queue.UnsealAnswer(s.key, r.signature, blob("answer"), blob("answer_signature"))
		if err != nil {
			return r, err
		}
		r.Answer = &a
	}
	if taken := stmt.GetInt64("taken"); taken != 0 {
		r.Taken = time.UnixMilli(taken).UTC()
	}
	return r, nil
}

// one reads the row with a number.
func (s *Store) one(conn *sqlite.Conn, id int64) (r row, err error) {
	found := false
	err = sqlitex.Execute(conn, columns+"WHERE id = ?", &sqlitex.ExecOptions{Args: []any{id}, ResultFunc: func(stmt *sqlite.Stmt) (err error) {
		found = true
		r, err = s.read(stmt)
		return err
	}})
	if err == nil && !found {
		err = queue.ErrUnknown
	}
	return r, err
}

// Add implements [queue.Waiting].
func (s *Store) Add(ctx context.Context, e queue.Entry) (queue.Entry, error) {
	now := s.now()
	e.Nonce, e.State = nonce(), queue.Pending
	err := s.change(ctx, func(conn *sqlite.Conn, revision int64) error {
		if err := s.tidy(conn, revision, now); err != nil {
			return err
		}
		if e.Ticket {
			same, err := s.rows(conn, "WHERE digest = ? AND state = 'pending' AND ticket = 1 LIMIT 1", e.Digest)
			if err != nil {
				return err
			}
			if len(same) > 0 {
				e = same[0].Entry
				return nil
			}
		}
		waiting, err := number(conn, "SELECT count(*) FROM entries WHERE state = 'pending'")
		if err != nil {
			return err
		}
		session := s.session(&e)
		own, err := number(conn, ofSession, session)
		if err != nil {
			return err
		}
		if waiting >= MaxPending || own >= MaxOfSession {
			return queue.ErrFull
		}
		e.ID, err = number(conn, "INSERT INTO entries (revision, state, digest, session, ticket, deadline, entry, entry_signature) VALUES (?, 'pending', ?, ?, ?, ?, '', '') RETURNING id",
			revision, e.Digest, session, e.Ticket, e.Deadline.UnixMilli())
		if err != nil {
			return err
		}
		text, signature, err := queue.Seal(s.key, e)
		if err != nil {
			return err
		}
		if len(text) > maxRow {
			return fmt.Errorf("the call is too large for the queue: %d bytes", len(text))
		}
		e.Revision = revision
		return sqlitex.Execute(conn, "UPDATE entries SET entry = ?, entry_signature = ? WHERE id = ?", &sqlitex.ExecOptions{Args: []any{text, signature, e.ID}})
	})
	return e, err
}

// ofSession counts the pending entries of a session.
const ofSession = "SELECT count(*) FROM entries WHERE state = 'pending' AND session = ?"

// session returns the stored name of an entry's session.
func (s *Store) session(e *queue.Entry) string {
	return fmt.Sprintf("%x", state.Sign(s.key, "queue session", []byte(e.Harness), []byte(e.Session.String()))[:8])
}

// Crowded reports whether at least most calls of an entry's session are already waiting.
func (s *Store) Crowded(ctx context.Context, e queue.Entry, most int64) (many bool, err error) {
	own, err := s.count(ctx, ofSession, s.session(&e))
	return own >= most, err
}

// tidy expires entries whose time has passed, and removes entries that are too old or too many.
func (s *Store) tidy(conn *sqlite.Conn, revision int64, now time.Time) error {
	// A waiting process ends its own entry. An entry that is so late has no process.
	late := now.Add(-limit.QueueSettle).UnixMilli()
	if err := sqlitex.Execute(conn, "UPDATE entries SET state = 'expired', revision = ? WHERE state = 'pending' AND deadline < ?", &sqlitex.ExecOptions{Args: []any{revision, late}}); err != nil {
		return err
	}
	if err := sqlitex.Execute(conn, "DELETE FROM entries WHERE state <> 'pending' AND deadline < ?", &sqlitex.ExecOptions{Args: []any{now.Add(-keepFor).UnixMilli()}}); err != nil {
		return err
	}
	return sqlitex.Execute(conn, "DELETE FROM entries WHERE state <> 'pending' AND id <= (SELECT max(id) FROM entries) - ?", &sqlitex.ExecOptions{Args: []any{maxStored}})
}

// Wait implements [queue.Waiting].
func (s *Store) Wait(ctx context.Context, e queue.Entry) (queue.Resolution, error) {
	seen := int64(-1)
	for checks := 0; ; checks++ {
		over := ctx.Err() != nil || !s.now().Before(e.Deadline)
		var a queue.Resolution
		var taken bool
		// This number changes with each write by another process.
		version, err := s.count(context.Background(), "PRAGMA data_version")
		if err == nil && (version != seen || over || checks%20 == 0) {
			seen = version
			a, taken, err = s.take(e, over)
			if err == nil && !taken && !over {
				err = s.replaced()
			}
		}
		if err != nil || taken {
			return a, err
		}
		if over {
			return a, queue.ErrTimedOut
		}
		select {
		case <-ctx.Done():
		case <-time.After(limit.QueueLook):
		}
	}
}

// count returns the number that a query gives.
func (s *Store) count(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.use(ctx, func(conn *sqlite.Conn) (err error) {
		n, err = number(conn, query, args...)
		return err
	})
	return n, err
}

// replaced returns an error if the database file was replaced: the entry is then no longer visible
// to other processes.
func (s *Store) replaced() error {
	if info, err := os.Lstat(Path(s.folder)); err != nil || !os.SameFile(info, s.opened) {
		return errors.New("the queue was damaged, or removed, while the call waited in it; try the call again")
	}
	return nil
}

// take uses the answer of an entry, if it may be used by now. If the time is over and there is no
// answer, the entry expires.
func (s *Store) take(e queue.Entry, over bool) (a queue.Resolution, taken bool, err error) {
	r, err := s.get(context.Background(), e.ID)
	switch {
	case err != nil:
		return a, false, err
	case string(r.Nonce) != string(e.Nonce) || r.Digest != e.Digest:
		return a, false, queue.ErrForged
	case r.State == queue.Expired:
		return a, false, queue.ErrTimedOut
	case !over && (r.State == queue.Pending || r.State == queue.Answered && s.now().Before(r.Answer.From)):
		return a, false, nil
	}
	err = s.change(context.Background(), func(conn *sqlite.Conn, revision int64) error {
		r, err := s.one(conn, e.ID) // it may have been answered, or taken back, in the meantime
		switch {
		case err != nil:
			return err
		case r.State == queue.Answered && r.Taken.IsZero() && !r.Answer.Grant:
			a, taken = *r.Answer, true
			return s.setTaken(conn, e.ID, revision)
		case r.State == queue.Pending && over:
			return sqlitex.Execute(conn, "UPDATE entries SET state = 'expired', revision = ? WHERE id = ? AND state = 'pending'", &sqlitex.ExecOptions{Args: []any{revision, e.ID}})
		}
		return nil
	})
	return a, taken && err == nil, err
}

func (s *Store) setTaken(conn *sqlite.Conn, id, revision int64) error {
	return sqlitex.Execute(conn, "UPDATE entries SET taken = ?, revision = ? WHERE id = ? AND taken IS NULL", &sqlitex.ExecOptions{Args: []any{max(1, s.now().UnixMilli()), revision, id}})
}

// TakeGrant implements [queue.Waiting].
func (s *Store) TakeGrant(ctx context.Context, digest string) (e queue.Entry, found bool, err error) {
	const usable = "WHERE digest = ? AND state = 'answered' AND taken IS NULL ORDER BY id LIMIT 50"
	look := func(conn *sqlite.Conn) (*row, error) {
		all, err := s.rows(conn, usable, digest)
		now := s.now()
		for i := range all {
			a := all[i].Answer
			if a != nil && a.Grant && all[i].Digest == digest && !now.Before(a.From) && !now.Before(a.At.Add(-time.Minute)) && now.Before(a.Expires) {
				return &all[i], err
			}
		}
		return nil, err
	}
	var any bool
	err = s.use(ctx, func(conn *sqlite.Conn) error {
		r, err := look(conn)
		any = r != nil
		return err
	})
	if err != nil || !any {
		return e, false, err // without a lock for all writers
	}
	err = s.change(ctx, func(conn *sqlite.Conn, revision int64) error {
		r, err := look(conn)
		if err != nil || r == nil {
			return err
		}
		e, found = r.Entry, true
		return s.setTaken(conn, r.ID, revision)
	})
	return e, found && err == nil, err
}

// get reads an entry.
func (s *Store) get(ctx context.Context, id int64) (r row, err error) {
	err = s.use(ctx, func(conn *sqlite.Conn) (err error) {
		r, err = s.one(conn, id)
		return err
	})
	return r, err
}

// Entry implements [queue.Queue].
func (s *Store) Entry(ctx context.Context, id int64) (queue.Entry, error) {
	r, err := s.get(ctx, id)
	return r.Entry, err
}

// Pending implements [queue.Queue].
func (s *Store) Pending(ctx context.Context) (out []queue.Entry, err error) {
	now := s.now()
	overdue, err := s.count(ctx, "SELECT count(*) FROM entries WHERE state = 'pending' AND deadline < ?", now.Add(-limit.QueueSettle).UnixMilli())
	if err == nil && overdue > 0 {
		err = s.change(ctx, func(conn *sqlite.Conn, revision int64) error { return s.tidy(conn, revision, now) })
	}
	if err != nil {
		return nil, err
	}
	err = s.use(ctx, func(conn *sqlite.Conn) error {
		all, err := s.rows(conn, "WHERE state = 'pending' ORDER BY id")
		for _, r := range all {
			if now.Before(r.Deadline) {
				out = append(out, r.Entry)
			}
		}
		return err
	})
	queue.Urgency(out)
	return out, err
}

// Answer implements [queue.Queue].
func (s *Store) Answer(ctx context.Context, id int64, a queue.Resolution) (won bool, err error) {
	r, err := s.get(ctx, id)
	if err != nil || r.State != queue.Pending {
		return false, err
	}
	a = r.Entry.Answered(a, s.now())
	if !a.At.Before(r.Deadline) {
		return false, nil
	}
	text, signature, err := queue.SealAnswer(s.key, r.signature, a)
	if err != nil {
		return false, err
	}
	err = s.change(ctx, func(conn *sqlite.Conn, revision int64) error {
		err := sqlitex.Execute(conn, "UPDATE entries SET state = 'answered', revision = ?, answer = ?, answer_signature = ? WHERE id = ? AND state = 'pending' AND entry_signature = ?",
			&sqlitex.ExecOptions{Args: []any{revision, text, signature, r.ID, r.signature}})
		won = conn.Changes() == 1
		return err
	})
	return won && err == nil, err
}

// Undo implements [queue.Queue].
func (s *Store) Undo(ctx context.Context, id int64) (e queue.Entry, done bool, err error) {
	err = s.change(ctx, func(conn *sqlite.Conn, revision int64) error {
		where, args := "WHERE state = 'answered' AND taken IS NULL ORDER BY revision DESC LIMIT 1", []any{}
		if id != 0 {
			where, args = "WHERE state = 'answered' AND taken IS NULL AND id = ?", []any{id}
		}
		all, err := s.rows(conn, where, args...)
		if err != nil || len(all) == 0 || !s.now().Before(all[0].Deadline) {
			return err
		}
		e, done = all[0].Entry, true
		e.State, e.Answer, e.Revision = queue.Pending, nil, revision
		return sqlitex.Execute(conn, "UPDATE entries SET state = 'pending', answer = NULL, answer_signature = NULL, revision = ? WHERE id = ?", &sqlitex.ExecOptions{Args: []any{revision, e.ID}})
	})
	return e, done && err == nil, err
}

// Since implements [queue.Queue].
func (s *Store) Since(ctx context.Context, revision int64) (out []queue.Entry, last int64, err error) {
	last = revision
	err = s.use(ctx, func(conn *sqlite.Conn) (err error) {
		// The number is read before the rows: a change in between is returned twice instead of
		// never.
		if last, err = number(conn, "SELECT revision FROM counter"); err != nil {
			return err
		}
		all, err := s.rows(conn, "WHERE revision > ? ORDER BY revision, id", revision)
		out = lists.Of(all, func(r row) queue.Entry { return r.Entry })
		return err
	})
	return out, last, err
}

// Watch implements [queue.Queue].
func (s *Store) Watch(ctx context.Context, revision int64, changed func([]queue.Entry) error) error {
	for {
		all, last, err := s.Since(ctx, revision)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if len(all) > 0 {
			if err := changed(all); err != nil {
				return err
			}
		}
		revision = last
		if err := s.replaced(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(limit.QueueLook):
		}
	}
}
