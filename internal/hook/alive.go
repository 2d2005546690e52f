package hook

import (
	"path/filepath"
	"slices"
	"time"

	"cardea.dev/internal/memory/session"
)

// Heartbeats are where it is kept when each harness's last event came.
func (pl *Place) Heartbeats() *session.Store {
	store, err := session.Open(pl.State, nil)
	if err != nil {
		return nil // locate has told why there is no state folder
	}
	return store
}

// beat notes that a real event came. One that names no session is a probe's, and one
// without a variable of a harness was put in by hand.
func (j *Judgement) beat(now time.Time) error {
	if !j.Event.Kind.Answered() || j.Event.Session == "" || !j.process.startedByHarness() {
		return nil
	}
	return j.Place.Heartbeats().RecordEvent(j.Event.Harness, now)
}

// startedByHarness reports whether a harness started this process as its hook: each
// sets one of these variables for its hooks (docs/harnesses.md), or the small program that
// install wrote does. Codex CLI sets none, unless npm installed it, and is found among the
// processes above, where the system shows them.
func (p Process) startedByHarness() bool {
	named := slices.ContainsFunc([]string{"CLAUDE_PROJECT_DIR", "CLAUDECODE", "COPILOT_CLI", "COPILOT_PROJECT_DIR",
		"CODEX_MANAGED_BY_NPM", "CODEX_HOME", "CURSOR_VERSION", "CRUSH", "CARDEA_HOOK"}, func(name string) bool { return p.Env(name) != "" })
	return named || p.Lines != nil && slices.ContainsFunc(p.Lines(), func(words []string) bool {
		return slices.ContainsFunc(words[:min(2, len(words))], func(word string) bool { return filepath.Base(word) == "codex" })
	})
}
