package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
)

const (
	// maxSpool is the largest number of files in the spool. Further entries are lost and reported,
	// since a lock that is never released must not fill the disk.
	maxSpool = 2000
	// maxTaken is the largest number of entries that one writer takes from the spool, so that no
	// call pays for all of them.
	maxTaken = 64
	spoolEnd = ".json"
	badEnd   = ".bad"
)

// spool leaves an entry for the next writer. The file is signed like a line, written completely and
// renamed into place.
func (l *Ledger) spool(id string, body []byte) error {
	dir := l.path(spoolName)
	present, err := state.Names(dir, maxSpool)
	if err != nil {
		return err
	}
	if len(present) >= maxSpool {
		return fmt.Errorf("%d entries wait in %s already; end the process that holds %s", len(present), dir, l.path(headName))
	}
	data, _ := sign(l.opt.Key, "ledger spool", append([]byte(nil), body[:len(body)-1]...))
	return state.Write(filepath.Join(dir, id+spoolEnd), data)
}

// waiting returns the names of the files in the spool, oldest first.
func (l *Ledger) waiting() ([]string, error) {
	all, err := state.Names(l.path(spoolName), 2*maxSpool)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	return all, nil
}

// spooledID returns the id of the entry in a spool file. It returns false for other files.
func spooledID(name string) (string, bool) {
	id, ok := strings.CutSuffix(name, spoolEnd)
	if !ok {
		return "", false
	}
	_, ok = idTimeOf(id)
	return id, ok
}

// readSpooled reads the JSON object of an entry from the spool. It returns false for a file that
// the ledger did not write.
func (l *Ledger) readSpooled(name string) (body []byte, ok bool, err error) {
	data, err := state.Read(filepath.Join(l.path(spoolName), name), maxLine)
	if err != nil {
		return nil, false, err
	}
	line, whole := strings.CutSuffix(string(data), "\n")
	open, _, ok := unsign(l.opt.Key, "ledger spool", []byte(line))
	if !ok || !whole {
		return nil, false, nil
	}
	body = append(open, '}')
	id, _ := spooledID(name)
	w, err := parse(body)
	return body, err == nil && w.ID == id, nil
}

// takeSpooled writes the oldest entries of the spool. It renames a file that the ledger did not
// write, for Verify to report.
func (w *writer) takeSpooled(names []string) error {
	l, dir, taken := w.ledger, w.ledger.path(spoolName), 0
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, ok := spooledID(name); !ok {
			state.RemoveAbandoned(path)
			continue
		}
		if taken++; taken > maxTaken {
			return nil
		}
		body, ok, err := l.readSpooled(name)
		if err != nil || !ok {
			// If even that fails, the next write skips it again, and Verify reports it.
			_ = os.Rename(path, strings.TrimSuffix(path, spoolEnd)+badEnd)
			continue
		}
		if err := w.line(body); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// removeSpooled removes an entry from the spool that became a line before a crash, so that it is
// not written twice.
func (l *Ledger) removeSpooled(id string) error {
	if _, ok := idTimeOf(id); !ok {
		return nil
	}
	return ignoreMissing(os.Remove(filepath.Join(l.path(spoolName), id+spoolEnd)))
}
