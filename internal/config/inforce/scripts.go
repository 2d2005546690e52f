package inforce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/triggered"
	"cardea.dev/internal/config/trusted"
	"cardea.dev/internal/decide/policy"
)

// nearest returns the scopes to search for a signal, nearest first.
func nearest(scope cardea.Scope) []cardea.Scope {
	all := []cardea.Scope{cardea.ScopeProject, cardea.ScopeUser, cardea.ScopeOrg, cardea.ScopeSystem}
	if i := slices.Index(all, scope); i >= 0 {
		return all[i:]
	}
	// Built-in policies prefer the user's scripts to the project's.
	return []cardea.Scope{cardea.ScopeUser, cardea.ScopeOrg, cardea.ScopeSystem, cardea.ScopeProject}
}

// signal returns the script of a signal for the policies of a folder, or an answer in its
// place. Both are empty if there is no such signal.
func (l *Loaded) signal(from policy.Folder, name string) (*script.Signal, policy.SignalValue) {
	for _, scope := range nearest(from.Scope) {
		for _, at := range l.folders() {
			switch {
			case at.scope != scope || at.dir == "":
				continue
			case scope == cardea.ScopeOrg && from.Scope == cardea.ScopeOrg && at.dir != filepath.Dir(from.Dir):
				continue // another organisation's
			case at.tightens && from.Scope != cardea.ScopeOrg:
				continue
			}
			if script, answer := l.signalOf(at, name); script != nil || answer.Value != nil {
				return script, answer
			}
		}
	}
	return nil, policy.SignalValue{}
}

// signalOf returns a signal of one folder, from its settings, else from the files in
// signals/.
func (l *Loaded) signalOf(at folder, name string) (*script.Signal, policy.SignalValue) {
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		def, there := f.Values.Signals[name]
		if f.Scope != at.scope || filepath.Dir(f.Path) != at.dir || !f.Found || !there {
			continue
		}
		if at.scope == cardea.ScopeProject {
			b := l.scripts().FilesOf(def.Command)
			if state := l.scripts().State(append([]string{f.Path}, b.All...)); state != trusted.Accepted {
				return nil, refusal(state, name)
			}
			if b.Unseen != "" {
				return nil, policy.Refused("the command of signal "+name+" does not run: "+b.Unseen, false)
			}
		} else if why := l.scripts().RunsUntrusted(def.Command); why != "" {
			return nil, policy.Refused("the command of signal "+name+" does not run: "+why, false)
		}
		if def.Wrong != "" {
			return nil, policy.SignalValue{Value: policy.NotRun("the signal " + name + " cannot be read: " + def.Wrong)}
		}
		return &script.Signal{Name: name, Command: def.Command, Limit: time.Duration(def.TimeoutSeconds) * time.Second}, policy.SignalValue{}
	}
	for _, path := range l.filesIn(at, "signals") {
		if base := filepath.Base(path); base != name && strings.TrimSuffix(base, filepath.Ext(base)) != name {
			continue
		}
		if at.scope == cardea.ScopeProject {
			if state := l.scripts().State([]string{path}); state != trusted.Accepted {
				return nil, refusal(state, name)
			}
		}
		return &script.Signal{Name: name, File: path}, policy.SignalValue{}
	}
	return nil, policy.SignalValue{}
}

// refusal returns the answer of a signal whose script must not run.
func refusal(s trusted.State, name string) policy.SignalValue {
	if s == trusted.Changed {
		return policy.Refused("the script of signal "+name+" is not as you trusted it", true)
	}
	return policy.Refused("the script of signal "+name+" was never trusted, so it does not run", false)
}

// scripts returns which scripts the user accepted.
func (l *Loaded) scripts() trusted.AcceptedProject {
	return trusted.AcceptedProject{Project: l.Where.Project, Home: l.Where.Dirs.Home, Trust: l.Where.Trust, Known: l.Where.Known}
}

// Actions returns the commands to run after a verdict.
func (l *Loaded) Actions(ev *cardea.Event, v *cardea.Verdict) []script.Action {
	return triggered.Actions(l.SettingsFiles, ev, v, l.Where.Project, l.scripts().MayRun)
}

// NotExecutable returns the scripts of all scopes that lack the permission to execute.
func (l *Loaded) NotExecutable() []diagnostic.Diagnostic {
	signals := lists.Of(l.folders(), func(at folder) []string { return l.filesIn(at, "signals") })
	return l.scripts().NotExecutable(slices.Concat(signals...), l.SettingsFiles)
}

// maxScripts is the maximum number of files in a folder of scripts.
const maxScripts = 256

// filesIn returns the files in a subfolder of a scope's folder, sorted, without hidden
// ones.
func (l *Loaded) filesIn(at folder, name string) []string {
	if at.dir == "" {
		return nil
	}
	dir := filepath.Join(at.dir, name)
	if l.absent.Folder(dir) || l.doubt(dir, at) != nil {
		return nil
	}
	entries, err := state.Entries(dir, maxScripts+1)
	if err != nil || len(entries) > maxScripts {
		return nil
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// ReadScripts reads the project's files other than settings, rules and routes, so that the
// user can accept them. They are policies, signals, scripts named in commands, and the
// judge's texts. It does not check their content. Lessons are accepted individually.
func (l *Loaded) ReadScripts() []string {
	if l.Where.Project == "" {
		return nil
	}
	paths := slices.Concat(l.policyFiles(), l.filesIn(l.project(), "signals"), l.filesIn(l.project(), "actions"))
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		paths = append(paths, judgeFiles(f.Values.Judge.Context, l.Where.Project)...)
		if f.Scope == cardea.ScopeProject {
			for _, c := range f.Commands() {
				paths = append(paths, l.scripts().FilesOf(c).All...)
			}
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		if data, _, err := project.ReadFile(path, l.Where.Project); err == nil && data != nil {
			l.counts(path, l.project(), data)
		}
	}
	return paths
}

// Unrunnable returns the commands of the project that cannot run even if accepted, each
// with the reason and what to do.
func (l *Loaded) Unrunnable() []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	say := func(file, format string, args ...any) {
		out = append(out, cardea.Warning(file, diagnostic.CodeNotExecutable, "", fmt.Sprintf(format, args...)).Diagnostic)
	}
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if f.Scope != cardea.ScopeProject {
			continue
		}
		for _, c := range f.Commands() {
			b := l.scripts().FilesOf(c)
			if b.Unseen != "" {
				say(f.Path, "%q does not run: %s", c, b.Unseen)
			}
			for _, file := range b.All {
				if _, _, err := project.ReadFile(file, l.Where.Project); err != nil {
					say(f.Path, "%q does not run: %s: %v", c, file, err)
				}
			}
		}
	}
	for _, path := range l.filesIn(l.project(), "signals") {
		if _, _, err := project.ReadFile(path, l.Where.Project); err != nil {
			say(path, "it does not run: %v", err)
		}
	}
	return out
}

// Trusts reports whether a file applies in full in its current form.
func (l *Loaded) Trusts(path string) bool {
	return l.scripts().State([]string{path}) == trusted.Accepted
}

// policyFiles returns the project's policy files.
func (l *Loaded) policyFiles() []string {
	f, ok := l.policyFolder(l.project())
	if !ok {
		return nil
	}
	return f.Paths()
}
