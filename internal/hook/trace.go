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

// trace is a line-by-line record of how a call was judged. Deciders may still write to it
// after the time limit.
type trace struct {
	mu    sync.Mutex
	lines []string
}

// maxTrace is the most lines of a trace.
const maxTrace = 1000

func (t *trace) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) < maxTrace {
		t.lines = append(t.lines, line)
	}
}

// Text returns the whole trace. show redacts each line.
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

// StartTrace starts to record how the harness's lists apply.
func (j *Evaluation) StartTrace() {
	j.Traced = &trace{}
	j.Loaded.Trace = j.Traced.add
	j.traceLists()
}

// logTrace appends the trace to the file that a variable names for one run. A project may
// have set the variable, so the file's name must end in .log and must not be a link. No
// program reads settings from such a file.
func (j *Evaluation) logTrace(text string) error {
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

// traceLists records which lists were read.
func (j *Evaluation) traceLists() {
	for _, f := range j.Loaded.PermissionFiles {
		note := ""
		switch {
		case f.Cached:
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

// Suggest returns the narrowest entries that would allow a call. ok is false if no entry would.
func (j *Evaluation) Suggest(v cardea.Verdict) (ok bool, needs []string) {
	ok = true
	for i := range j.Event.Call.Parts {
		if i < len(v.Parts) && v.Parts[i] == cardea.Allow {
			continue
		}
		if i < len(v.Parts) && v.Parts[i] > cardea.Defer || len(j.Event.Call.Parts[i].Opaque) > 0 {
			ok = false // no entry allows it
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
