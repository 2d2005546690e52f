package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

// trace is how a call was judged, line by line. Deciders may still write when
// the time is over.
type trace struct {
	mu    sync.Mutex
	lines []string
}

// maxTrace is how many lines are kept.
const maxTrace = 1000

func (t *trace) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) < maxTrace {
		t.lines = append(t.lines, line)
	}
}

// Text is the whole trace, with show for what may be told.
func (t *trace) Text(show func(string) string) string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, l := range t.lines {
		fmt.Fprintf(&b, "cardea: %s\n", strings.ReplaceAll(PlainText(show(l)), "\n", " "))
	}
	return b.String()
}

// StartTrace notes how the harness's lists are applied.
func (j *Judgement) StartTrace() {
	j.Traced = &trace{}
	j.Loaded.Trace = j.Traced.add
	j.traceLists()
}

// logTrace writes the trace to the end of the file that a variable names for one
// run. The name may come from whoever set the environment, so nothing is written but
// to a file whose name says that it is a log, and to none through a link: no program
// reads its settings from there.
func (j *Judgement) logTrace(text string) error {
	file := j.Loaded.LogFile()
	if file == "" || text == "" {
		return nil
	}
	if !filepath.IsAbs(file) || filepath.Ext(file) != ".log" {
		return fmt.Errorf("the log %q is not written: name it by an absolute path that ends in .log", file)
	}
	f, _, err := state.Open(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("the log is not written: %w", err)
	}
	now := j.process.Now().UTC().Format(time.RFC3339)
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%s %s\n", now, line)
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

// traceLists tells which lists were read.
func (j *Judgement) traceLists() {
	for _, f := range j.Loaded.PermissionFiles {
		note := ""
		switch {
		case f.Kept:
			note = ", broken, its last good form is in force"
		case f.From.Why != "":
			note = ", what it allows does not count: " + f.From.Why
		}
		j.Traced.add(fmt.Sprintf("permissions: %s (%s), entries: %d%s", f.From.File, f.From.Scope, f.Entries, note))
	}
	for _, p := range j.Event.Faults {
		j.Traced.add("permissions: the message has a fault: " + p.Reason)
	}
}

// Suggest is what keeps a call from being allowed, part by part, and the
// narrowest entries that would allow it. ok is false where no entry does.
func (j *Judgement) Suggest(v cardea.Verdict) (ok bool, needs []string) {
	ok = true
	for i := range j.Event.Call.Parts {
		if i < len(v.Parts) && v.Parts[i] == cardea.Allow {
			continue
		}
		if i < len(v.Parts) && v.Parts[i] > cardea.Defer || len(j.Event.Call.Parts[i].Opaque) > 0 {
			ok = false // no entry lifts it
			continue
		}
		r := j.Loaded.PermissionsDecider().Refusal(j.Event, i)
		if len(r.Needs) == 0 {
			ok = false
		}
		for _, n := range r.Needs {
			if !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		}
	}
	return ok, needs
}
