package hook

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
)

// attend sets whether a model reviews ev, and whether a person attends. By the setting
// human.surfaces, a person attends if Claude Code runs on a surface that the person named. It never
// changes an event that says that no person attends.
func (j *Evaluation) attend(ev *cardea.Event) {
	surface := claudecode.Surface(j.process.Env)
	if surface != "" && ev.Harness == claudecode.Name && ev.Attendance == cardea.AttendanceUnsaid && slices.Contains(j.Loaded.Settings.Human.Surfaces, surface) {
		ev.Attendance = cardea.PersonAttends
	}
	if ev.Reviewed = reviewed(ev); ev.Reviewed {
		ev.Attendance = cardea.NobodyAttends
	}
}

// maxTail is how much of the end of a transcript is read, in bytes.
const maxTail = 32 << 20

// reviewed reports whether a model, and no person, answers a request for permission of Codex's.
// Its transcript says so for each turn; the message does not. A transcript that cannot be read,
// or lacks the turn, says nothing. The agent can add rows, so one row of the turn that names a
// model is enough. A turn that began too far back is treated as reviewed.
func reviewed(ev *cardea.Event) bool {
	p, ok := ev.Sent.(*harness.Payload)
	if !ok || ev.Harness != "codex" || ev.Kind != cardea.PermissionRequest {
		return false
	}
	path, turn := p.Text("transcript_path"), p.Text("turn_id")
	if turn == "" || !filepath.IsAbs(path) {
		return false
	}
	f, info, err := state.OpenLinked(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	from := max(0, info.Size()-maxTail)
	data, err := io.ReadAll(io.NewSectionReader(f, from, maxTail))
	if err != nil {
		return false
	}
	unsaid := from > 0 // the turn may have begun earlier
	for line := range bytes.Lines(data) {
		if !bytes.Contains(line, []byte(`"turn_context"`)) {
			continue
		}
		row, err := harness.Read(line)
		if err != nil || row.Text("type") != "turn_context" {
			continue
		}
		r := harness.NewReading(row)
		if r.Text("payload.turn_id") == turn {
			if reviewer := r.Text("payload.approvals_reviewer"); reviewer != "" && reviewer != "user" {
				return true
			}
			unsaid = false
		}
	}
	return unsaid
}
