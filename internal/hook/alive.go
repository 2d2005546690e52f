package hook

import (
	"path/filepath"
	"slices"
	"time"

	"cardea.dev/internal/memory/session"
)

// Heartbeats returns the store of the times of each harness's last event, or nil without a
// state folder.
func (pl *Location) Heartbeats() *session.Store {
	store, err := session.Open(pl.State, nil)
	if err != nil {
		return nil // Locate has reported why there is no state folder
	}
	return store
}

// beat records that a real event came. An event without a session is a probe's. One without
// a harness's variable was sent by hand.
func (j *Evaluation) beat(now time.Time) error {
	if !j.Event.Kind.Answered() || j.Event.Session == "" || !j.process.startedByHarness() {
		return nil
	}
	return j.Place.Heartbeats().RecordEvent(j.Event.Harness, now)
}

// startedByHarness reports whether a harness started this process as its hook. Each harness
// sets one of these variables for its hooks (docs/harnesses.md), or the small program that
// install wrote sets one. Codex CLI sets none unless npm installed it; it is found among
// the parent processes, where the system shows them.
func (p Process) startedByHarness() bool {
	named := slices.ContainsFunc([]string{"CLAUDE_PROJECT_DIR", "CLAUDECODE", "COPILOT_CLI", "COPILOT_PROJECT_DIR",
		"CODEX_MANAGED_BY_NPM", "CODEX_HOME", "CURSOR_VERSION", "CRUSH", "CARDEA_HOOK"}, func(name string) bool { return p.Env(name) != "" })
	return named || p.Lines != nil && slices.ContainsFunc(p.Lines(), func(words []string) bool {
		return slices.ContainsFunc(words[:min(2, len(words))], func(word string) bool { return filepath.Base(word) == "codex" })
	})
}
