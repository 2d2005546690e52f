package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev/internal/base/state"
)

// writeEvery is the shortest time between two writes of a heartbeat, so that the hook, which runs
// for every call, only looks at a file.
const writeEvery = time.Minute

// RecordEvent records that a real event of a harness arrived. A registered hook that is never
// started is silent, and missing events are the only sign of it. A nil store records nothing.
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

// LastEvent returns the time of the last real event of a harness, to the minute, and whether there
// was one.
func (s *Store) LastEvent(harness string) (time.Time, bool) {
	info, err := os.Lstat(s.heartbeat(harness))
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// heartbeat returns the path of a harness's file, or "" for an invalid name.
func (s *Store) heartbeat(harness string) string {
	plain := strings.Trim(harness, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	if s == nil || harness == "" || !plain {
		return ""
	}
	return filepath.Join(filepath.Dir(s.dir), "heartbeat", harness)
}
