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
	"cardea.dev/internal/config/posture"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
)

// maxPluginEntries bounds the entries of each folder of the plugin.
const maxPluginEntries = 1024

// SetUp are the files by which the gate is set up: those that hold its hooks, the
// programs that these start, Cardea's own plugin, and the settings, rules and policies
// beyond one project. Those of a project are what trust remembers. withProject adds the
// hooks of the project.
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
		entries, _ := state.Names(path, maxPluginEntries) // nil of a file, and where nothing is
		for _, entry := range entries {
			names = append(names, filepath.Join(path, entry))
		}
	}
	for _, h := range install.Harnesses() {
		for _, w := range install.Inspect(h, at).Wirings {
			if withProject || slices.Contains([]install.Scope{install.User, install.Managed, install.Plugin}, w.Scope) {
				if names = append(names, posture.HooksIn(w.File)); w.Program == "" {
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

// SetUpChanges is what changed since a person set the gate up, nil where nothing
// did or nobody has. It is one line, which decides nothing.
func SetUpChanges(at install.Places, l *inforce.Loaded) []cardea.Trouble {
	const hint = "if that was you, run \"cardea accept\"; if not, review the change"
	was, err := posture.Load(at.State)
	if err != nil {
		return []cardea.Trouble{cardea.Warning("", posture.CodeChanged, hint, err.Error())}
	}
	if was == nil && Installed(at) {
		return []cardea.Trouble{cardea.Warning("", posture.CodeChanged, "run \"cardea accept\"", "it is not remembered how you set the gate up")}
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
	return []cardea.Trouble{cardea.Warning("", posture.CodeChanged, hint,
		fmt.Sprintf("changed since you set the gate up on %s: %s", was.When.Format("2006-01-02"), strings.Join(changed, ", ")))}
}

// tellSetUp adds what changed since a person set the gate up, once a session, at
// the first event whose answer reaches the person.
func (j *Judgement) tellSetUp() {
	if j.Place.State == "" || j.Event.Session == "" || !j.reachesPerson() || !posture.Kept(j.Place.State) || !j.Place.Session.IsNew("set-up") {
		return
	}
	j.Place.Troubles = slices.Concat(j.Place.Troubles, SetUpChanges(siteAt(j.process, j.Place).At, j.Loaded))
}

// reachesPerson reports whether an answer to the event shows the person something. Claude
// Code shows nothing in a subagent (seen with 2.1.332). Of other harnesses it is assumed only
// where a call begins or is asked about.
func (j *Judgement) reachesPerson() bool {
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

// setUpNotice is where the daemon notes for the status line that the set-up changed.
func setUpNotice(folder string) string { return filepath.Join(folder, "set-up-changed") }

// NoteSetUp notes for the status line what changed in the set-up, "" for nothing. The note
// applies for a short time. The daemon writes it again.
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
