package cli

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/hook"
	"cardea.dev/internal/project"
	"cardea.dev/internal/state"
	"cardea.dev/internal/trust"
)

// trustWatch looks whether the files that the person accepted of their projects are as they
// were accepted. What they mean is looked at only when the system gives one another stamp:
// a harness changes its settings all the time, and little of them was accepted.
type trustWatch struct{ seen map[string]trustSeen }

// trustSeen is what was seen of a project.
type trustSeen struct {
	stamps  map[string]string
	changed []string
}

// maxTrustWatched bounds the files that are watched, of all projects together. Projects
// beyond it are not.
const maxTrustWatched = 4096

// look says which files are others than the ones that were accepted, and adds the stamps
// of all that it looked at. A project that is not there is passed over: people remove
// projects.
func (w *trustWatch) look(p Process, folder string, stamps map[string]string) (told []string) {
	if folder == "" {
		return nil
	}
	stamps[trust.Folder(folder)] = state.Stamp(trust.Folder(folder))
	all, problems := trust.List(folder)
	for _, d := range problems {
		told = append(told, hook.Plain(fmt.Sprintf("%s is not believed: %s", d.File, d.Text)))
	}
	seen, left := map[string]trustSeen{}, maxTrustWatched
	for _, m := range all {
		if left -= len(m.Files); left < 0 || !project.Has(m.Project, "") {
			continue
		}
		now := trustSeen{stamps: trustStamps(folder, m)}
		if before, known := w.seen[m.Project]; known && maps.Equal(before.stamps, now.stamps) {
			now.changed = before.changed
		} else {
			now.changed = notAsAccepted(p, m)
		}
		seen[m.Project] = now
		maps.Copy(stamps, now.stamps)
		if len(now.changed) > 0 {
			told = append(told, hook.Plain(fmt.Sprintf("not as you accepted it in %s: %s (cardea trust verify)", m.Project, strings.Join(now.changed, ", "))))
		}
	}
	w.seen = seen
	return told
}

// trustStamps are those of the files of a project, and of what says which were accepted.
func trustStamps(folder string, m *trust.Manifest) map[string]string {
	kept := trust.PathOf(folder, m.Project)
	out := map[string]string{kept: state.Stamp(kept)}
	for name := range m.Files {
		path := filepath.Join(m.Project, filepath.FromSlash(name))
		out[path] = state.Stamp(path)
	}
	return out
}

// maxTrustTold is how many files are named for a project.
const maxTrustTold = 5

// notAsAccepted are the accepted files that a trust of the project would find changed or
// gone. What is new in it was not accepted, and only tightens.
func notAsAccepted(p Process, m *trust.Manifest) []string {
	env := p.Env
	p.Dir, p.Stderr = m.Project, io.Discard
	p.Env = func(name string) string {
		if name == "CLAUDE_PROJECT_DIR" {
			return "" // that of whoever started the daemon
		}
		return env(name)
	}
	p.Machine.Env = p.Env
	s, err := surveyHere(p)
	if err != nil || s.project != m.Project {
		return nil // what does not count there is told by who uses it
	}
	var out []string
	for _, f := range s.files() {
		if f.State == "changed" || f.State == "gone" {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	if more := len(out) - maxTrustTold; more > 0 {
		out = append(out[:maxTrustTold], fmt.Sprintf("%d more", more))
	}
	return out
}
