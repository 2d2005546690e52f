package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/setup"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
)

// maxPluginEntries is the most entries that are read of each plugin folder.
const maxPluginEntries = 1024

// SetUp returns the files that set the gate up: its hooks, the programs that these start,
// Cardea's plugin, and the settings, rules and policies beyond one project. Trust covers
// those of a project. withProject adds the hooks of the project.
func SetUp(at install.Places, l *inforce.Loaded, withProject bool) (names []string) {
	for _, f := range l.SettingsFiles {
		if f.Scope != cardea.ScopeProject && f.Path != "" {
			names = append(names, f.Path)
		}
	}
	for _, f := range l.Files {
		if f.Scope != cardea.ScopeProject {
			names = append(names, f.Path)
		}
	}
	for _, f := range l.PolicyFolders() {
		if f.Scope != cardea.ScopeProject && f.Embedded == nil {
			names = append(names, f.Paths()...)
		}
	}
	for _, path := range install.PluginFiles(at) {
		names = append(names, path)
		entries, _ := state.Names(path, maxPluginEntries) // nil for a file and for a missing folder
		for _, entry := range entries {
			names = append(names, filepath.Join(path, entry))
		}
	}
	for _, h := range install.Harnesses() {
		for _, w := range install.Inspect(h, at).Wirings {
			if withProject || slices.Contains([]install.Scope{install.User, install.Managed, install.Plugin}, w.Scope) {
				if names = append(names, setup.HooksIn(w.File)); w.Program == "" {
					continue // it is sent to the daemon
				}
				program := paths.Real(w.Program)
				names = append(names, program, filepath.Join(filepath.Dir(program), "cardea-engine"+filepath.Ext(program)))
			}
		}
	}
	return names
}

// Installed reports whether a harness has hooks of Cardea in the person's settings.
func Installed(at install.Places) bool {
	return slices.ContainsFunc(install.Harnesses(), func(h install.Harness) bool {
		return slices.ContainsFunc(install.Inspect(h, at).Wirings, func(w install.Wiring) bool { return w.Scope == install.User })
	})
}

// SetUpChanges returns one warning about what changed since a person set the gate up, or
// about a missing record. It is nil if nothing changed, or if there are neither a record
// nor hooks. It changes no verdict.
func SetUpChanges(at install.Places, l *inforce.Loaded) []cardea.Issue {
	const hint = "if that was you, run \"cardea accept\"; if not, review the change"
	was, err := setup.Load(at.State)
	if err != nil {
		return []cardea.Issue{cardea.Warning("", setup.CodeChanged, hint, err.Error())}
	}
	if was == nil && Installed(at) {
		return []cardea.Issue{cardea.Warning("", setup.CodeChanged, "run \"cardea accept\"", "it is not remembered how you set the gate up")}
	}
	if was == nil {
		return nil
	}
	changed := was.Changed(SetUp(at, l, false), install.Hooks)
	if len(changed) == 0 {
		return nil
	}
	const most = 5
	if more := len(changed) - most; more > 0 {
		changed = append(changed[:most], fmt.Sprintf("%d more", more))
	}
	return []cardea.Issue{cardea.Warning("", setup.CodeChanged, hint,
		fmt.Sprintf("changed since you set the gate up on %s: %s", was.When.Format("2006-01-02"), strings.Join(changed, ", ")))}
}

// tellSetUp adds the changes of the set-up to the problems of the place. It runs once a
// session, at the first event whose answer reaches the person.
func (j *Evaluation) tellSetUp() {
	if j.Place.State == "" || j.Event.Session == "" || !j.reachesPerson() || !setup.Stored(j.Place.State) || !j.Place.Session.IsNew("set-up") {
		return
	}
	j.Place.Issues = slices.Concat(j.Place.Issues, SetUpChanges(harnessPathsAt(j.process, j.Place).At, j.Loaded))
}

// reachesPerson reports whether an answer to the event shows the person something. Claude
// Code shows nothing in a subagent (seen with 2.1.332). Of other harnesses it is assumed only
// where a call begins or is asked about.
func (j *Evaluation) reachesPerson() bool {
	can, known := capabilitiesOf(j.Event.Harness)
	switch {
	case j.Event.Harness == claudecode.Name:
		return can.Tells(j.Event) && j.Event.Agent == ""
	case j.Event.Kind == cardea.PermissionRequest:
		return !known || can.Tells(j.Event)
	}
	return j.Event.Kind.Begins()
}

// capabilitiesOf returns the capabilities of a harness that has an adapter.
func capabilitiesOf(name string) (can cardea.Capabilities, known bool) {
	all := Adapters()
	if i := slices.IndexFunc(all, func(a harness.Adapter) bool { return a.Name() == name }); i >= 0 {
		return all[i].Capabilities(), true
	}
	return can, false
}

// setUpNotice returns the file in which the daemon notes for the status line that the
// set-up changed.
func setUpNotice(folder string) string { return filepath.Join(folder, "set-up-changed") }

// NoteSetUp notes for the status line what changed in the set-up, "" for nothing. The note
// applies for a short time, and the daemon writes it again.
func NoteSetUp(folder, text string) error {
	if text != "" {
		return state.Write(setUpNotice(folder), []byte(Plain(text)+"\n"))
	}
	if err := os.Remove(setUpNotice(folder)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// setUpNoted reports whether the daemon notes that the set-up changed.
func setUpNoted(folder string, now time.Time) bool {
	if folder == "" {
		return false
	}
	info, err := os.Lstat(setUpNotice(folder))
	return err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) < 3*limit.SetUpWhole
}
