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
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/setup"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/hook"
)

// setUpWatch detects changes that Cardea did not make: of the gate's set-up, and of files that
// the person accepted in projects. It reports them by a notification, in the status line, in
// the log and over HTTP. Most looks only compare the stamps of known files, and read nothing.
type setUpWatch struct {
	process Process
	log     *logfile.Log
	// stamps holds the stamps of the last look, by path.
	stamps map[string]string
	trust  trustWatch

	mu   sync.Mutex
	text string
}

func newSetUpWatch(p Process, log *logfile.Log) *setUpWatch {
	return &setUpWatch{process: p, log: log}
}

// status returns what changed, for /v1/status.
func (w *setUpWatch) status() map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return map[string]any{"set_up_changed": w.text}
}

// run looks at intervals until ctx ends.
func (w *setUpWatch) run(ctx context.Context) {
	defer func() { w.note(harnessPathsOf(w.process).At.State, "") }()
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

// moved reports whether a known file's stamp changed since the last look.
func (w *setUpWatch) moved() bool {
	for path, stamp := range w.stamps {
		if state.Stamp(path) != stamp {
			return true
		}
	}
	return false
}

// look compares the set-up with what a person last confirmed, and reports what is new.
func (w *setUpWatch) look(ctx context.Context) {
	s := harnessPathsOf(w.process)
	lines := listOf(hook.SetUpChanges(s.At, load(w.process, &s.Place, nil)), func(t cardea.Issue) string { return hook.Plain(t.Diagnostic.Text) })
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

// note writes the note for the status line.
func (w *setUpWatch) note(folder, text string) {
	if folder == "" {
		return
	}
	if err := hook.NoteSetUp(folder, text); err != nil {
		w.log.Printf("set-up: no note for the status line: %v", err)
	}
}

// stampsOf returns the stamps of the confirmed files of the set-up.
func stampsOf(folder string) map[string]string {
	out := map[string]string{}
	if folder == "" {
		return out
	}
	stored := setup.Path(folder)
	out[stored] = state.Stamp(stored)
	// The look itself reports an unreadable record.
	if was, err := setup.Load(folder); err == nil && was != nil {
		for name := range was.Files {
			out[setup.PathOf(name)] = state.Stamp(setup.PathOf(name))
		}
	}
	return out
}

// trustWatch detects changes of the files that the person accepted in projects. It reads
// their content only if a stamp changed: a harness often changes its settings, and few of
// these were accepted.
type trustWatch struct{ seen map[string]trustSeen }

// trustSeen is the state of a project at the last look.
type trustSeen struct {
	stamps  map[string]string
	changed []string
}

// maxTrustWatched is the most files that are watched, in all projects together. Further
// projects are not watched.
const maxTrustWatched = 4096

// look returns a text about each project whose files differ from the accepted ones, and
// adds all stamps to stamps. It skips missing projects, since people remove projects.
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

// trustStamps returns the stamps of a project's accepted files, and of the record of
// acceptance.
func trustStamps(folder string, m *trust.Manifest) map[string]string {
	stored := trust.PathOf(folder, m.Project)
	out := map[string]string{stored: state.Stamp(stored)}
	for name := range m.Files {
		path := filepath.Join(m.Project, filepath.FromSlash(name))
		out[path] = state.Stamp(path)
	}
	return out
}

// maxTrustTold is the most files that are named for a project.
const maxTrustTold = 5

// notAsAccepted returns the accepted files that "cardea trust" would report as changed or
// gone. New files were not accepted, and can only tighten.
func notAsAccepted(p Process, m *trust.Manifest) []string {
	env := p.Env
	p.Dir, p.Stderr = m.Project, io.Discard
	p.Env = func(name string) string {
		if name == "CLAUDE_PROJECT_DIR" {
			return "" // the daemon inherited it from its parent process
		}
		return env(name)
	}
	p.Machine.Env = p.Env
	s, err := surveyHere(p)
	if err != nil || s.project != m.Project {
		return nil // the commands for that project report it
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
