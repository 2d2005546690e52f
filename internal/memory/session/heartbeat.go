package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev/internal/base/state"
)

// writeEvery is how often a heartbeat is written at most, so that the hook,
// which runs for every call, pays one look at a file.
const writeEvery = time.Minute

// RecordEvent notes that a real event of a harness arrived. A hook that is registered
// and never started is silent, and the only sign of it is that nothing comes.
// A nil store notes nothing.
func (s *Store) RecordEvent(harness string, now time.Time) error {
	path := s.heartbeat(harness)
	if last, ok := s.LastEvent(harness); path == "" || ok && now.Sub(last) < writeEvery && last.Sub(now) < writeEvery {
		return nil
	}
	if err := state.WriteAt(path, []byte(now.UTC().Format(time.RFC3339)+"\n"), now); err != nil {
		return fmt.Errorf("write heartbeat: %w; doctor and the status line cannot tell whether the hook is alive", err)
	}
	return nil
}

// LastEvent is when the last real event of a harness arrived, to the minute,
// and whether any has.
func (s *Store) LastEvent(harness string) (time.Time, bool) {
	info, err := os.Lstat(s.heartbeat(harness))
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// heartbeat is a harness's file, "" for a name that is none.
func (s *Store) heartbeat(harness string) string {
	plain := strings.Trim(harness, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	if s == nil || harness == "" || !plain {
		return ""
	}
	return filepath.Join(filepath.Dir(s.dir), "heartbeat", harness)
}
