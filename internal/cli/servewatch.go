package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/logfile"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/posture"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/hook"
)

// setUpWatch looks whether how the gate is set up, or what the person accepted of a
// project, changes without Cardea, and tells the person: by a notification, in the status line, in the log and over HTTP. Most looks ask
// the system for the stamps of the files that are known, and read nothing.
type setUpWatch struct {
	process Process
	log     *logfile.Log
	// stamps are those of the last look, by path.
	stamps map[string]string
	trust  trustWatch

	mu   sync.Mutex
	text string
}

func newSetUpWatch(p Process, log *logfile.Log) *setUpWatch {
	return &setUpWatch{process: p, log: log}
}

// status is what changed, for /v1/status.
func (w *setUpWatch) status() map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return map[string]any{"set_up_changed": w.text}
}

// run looks until ctx ends.
func (w *setUpWatch) run(ctx context.Context) {
	defer func() { w.note(siteOf(w.process).At.State, "") }()
	tick := time.NewTicker(limit.SetUpLook)
	defer tick.Stop()
	for n := 0; ; n++ {
		if n%int(limit.SetUpWhole/limit.SetUpLook) == 0 || w.moved() {
			w.look(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// moved reports whether a file that is known has another stamp than at the last look.
func (w *setUpWatch) moved() bool {
	for path, stamp := range w.stamps {
		if state.Stamp(path) != stamp {
			return true
		}
	}
	return false
}

// look compares the set-up with what a person last confirmed, and tells what is new.
func (w *setUpWatch) look(ctx context.Context) {
	s := siteOf(w.process)
	lines := listOf(hook.SetUpChanges(s.At, load(w.process, &s.Place, nil)), func(t cardea.Trouble) string { return hook.Plain(t.Diagnostic.Text) })
	w.stamps = stampsOf(s.At.State)
	lines = append(lines, w.trust.look(w.process, s.At.State, w.stamps)...)
	text := strings.Join(lines, "; ")
	w.note(s.At.State, text)
	w.mu.Lock()
	before := w.text
	w.text = text
	w.mu.Unlock()
	switch {
	case text == before:
	case text == "":
		w.log.Printf("set-up: as it was confirmed")
	default:
		w.log.Printf("set-up: %s", text)
		if err := w.tell(ctx, text); err != nil {
			w.log.Printf("set-up: no notification: %v", err)
		}
	}
}

// tell shows a notification, unless the person wants none.
func (w *setUpWatch) tell(ctx context.Context, text string) error {
	l, _, err := gather(w.process, nil)
	if err != nil || !l.Settings.Human.Notify || w.process.Say == nil {
		return err
	}
	return w.process.Say(ctx, "Cardea: the set-up of the gate changed", text+"; run cardea doctor")
}

// note leaves a note for the status line.
func (w *setUpWatch) note(folder, text string) {
	if folder == "" {
		return
	}
	if err := hook.NoteSetUp(folder, text); err != nil {
		w.log.Printf("set-up: no note for the status line: %v", err)
	}
}

// stampsOf are the stamps of the files of the set-up that a person confirmed.
func stampsOf(folder string) map[string]string {
	out := map[string]string{}
	if folder == "" {
		return out
	}
	kept := posture.Path(folder)
	out[kept] = state.Stamp(kept)
	// One that cannot be read is told by the look itself.
	if was, err := posture.Load(folder); err == nil && was != nil {
		for name := range was.Files {
			out[posture.PathOf(name)] = state.Stamp(posture.PathOf(name))
		}
	}
	return out
}

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
