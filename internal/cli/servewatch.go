package cli

import (
	"context"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/limit"
	"cardea.dev/internal/logfile"
	"cardea.dev/internal/posture"
	"cardea.dev/internal/state"
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
