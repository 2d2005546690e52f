package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/harness/claudecode"
)

// maxStatus is how much of a status message is read, in bytes.
const maxStatus = 1 << 20

// statusOf returns the status line. A crash must not show in a person's prompt.
func statusOf(p Process) (line string) {
	defer func() {
		if recover() != nil {
			line = "cardea: not known, run cardea doctor"
		}
	}()
	if dir := statusFolder(p); dir != "" {
		p.Dir = dir
	}
	s := HarnessPathsOf(p)
	h, err := install.Find(claudecode.Name)
	if err != nil {
		return "cardea: not known, run cardea doctor"
	}
	found := install.Inspect(h, s.At)
	last, beat := s.Place.Heartbeats().LastEvent(h.Name)
	pause, err := s.Place.Store.Paused(p.Now())
	gone := slices.Contains(found.Missing(h), h.Gate())
	bad := slices.ContainsFunc(found.Wirings, func(w install.Wiring) bool { return w.Event == h.Gate() && len(w.Diagnostics) > 0 })
	switch {
	case diagnostic.HasError(found.Diagnostics):
		return "cardea: settings are broken, run cardea doctor"
	case len(found.Wirings) == 0:
		return "cardea: absent"
	case gone:
		return "cardea: switched off, run cardea doctor"
	case bad:
		return "cardea: has a problem, run cardea doctor"
	case err == nil && pause != nil:
		return "cardea: off until " + Clock(pause.Until, p.Now())
	case setUpNoted(s.At.State, p.Now()):
		return "cardea: the set-up changed, run cardea doctor"
	case !beat:
		return "cardea: ready, no call yet"
	}
	return "cardea: live, last call " + Age(p.Now().Sub(last)) + " ago"
}

// statusFolder returns the project folder from the status message, or "".
func statusFolder(p Process) string {
	if person.IsTerminal(p.Stdin) {
		return ""
	}
	var m struct {
		Cwd       string `json:"cwd"`
		Workspace struct {
			Project string `json:"project_dir"`
		} `json:"workspace"`
	}
	raw, err := io.ReadAll(io.LimitReader(p.Stdin, maxStatus))
	if err != nil || json.Unmarshal(raw, &m) != nil {
		return ""
	}
	for _, dir := range []string{m.Workspace.Project, m.Cwd} {
		if filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}

// Age returns a time span for people, as "5 minutes".
func Age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return "a minute"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
