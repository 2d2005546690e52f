package inforce

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/jsontext"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/signals"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/lesson"
)

// Callbacks holds what policies need in addition to files. The zero value provides nothing.
type Callbacks struct {
	// Redact removes secrets from a text; without it, signals get no text.
	Redact func(string) string
	// Redactor removes secrets from the keys of lessons; nil creates a new one.
	Redactor *redact.Redactor
	// Secrets returns the secrets in a text as written; nil finds none.
	Secrets func(string) []string
	// Once reports whether a message is new in this session.
	Once func(key string) bool
	// Judge asks the judge about an event, for the signal watchdog; nil if there is no judge.
	Judge func(ctx context.Context, ev *cardea.Event) any
	// JudgeNow returns the current judge, whose lessons apply; nil if none exists.
	JudgeNow func() *lesson.JudgeVersion
	// Signals wraps the runner of signals, unless it is nil.
	Signals func(policy.Signals) policy.Signals
	// Trace receives what policies did, to explain a decision to the user.
	Trace func(policy.Step)
}

// Warm starts reading and compiling the policies of the user and the project that are
// routed to an event, in parallel to other reads. It sets [Where.Policies].
func (w *Where) Warm(ev *cardea.Event) {
	var lib *policy.Library
	if w.Memory != nil {
		if lib = w.Memory.library(w); lib == nil {
			w.leave("the policies of too many projects are in use at once")
			return
		}
	} else {
		lib = &policy.Library{Engines: w.Engines, Cache: state.NewIndexes("policies", w.Dirs.Cache, w.State), Tool: harness.ToolWord, Recheck: oneLook}
	}
	w.Policies = lib
	l := &Loaded{Where: *w, absent: w.Absent, links: w.Links}
	for _, at := range []folder{l.user(), l.project()} {
		if f, ok := l.policyFolder(at); ok {
			go lib.Warm(ev, f)
		}
	}
}

// oneLook is how long a listing of a folder is valid in a process for one call: throughout.
const oneLook = time.Minute

// index returns the cache of indexes of a place.
func (w Where) index() *state.Indexes {
	if w.Policies != nil {
		if c, ok := w.Policies.Cache.(*state.Indexes); ok {
			return c
		}
	}
	return state.NewIndexes("policies", w.Dirs.Cache, w.State)
}

// Policies returns the policies of all scopes.
func (l *Loaded) Policies() *policy.Policies {
	lib := l.Where.Policies
	lib = cmp.Or(lib, &policy.Library{Engines: l.Where.Engines, Recheck: oneLook})
	if lib.Cache == nil {
		lib.Cache = l.index
	}
	if lib.Tool == nil {
		lib.Tool = harness.ToolWord
	}
	s := policy.Options{Facts: l.PolicyFacts(), Folders: l.policyFolders, Once: l.Callbacks.Once, Trace: l.Callbacks.Trace}
	if l.Where.Memory != nil {
		s.Signals, s.Unheard = leavingSignals{&l.Where}, func() { l.Where.leave("policies were not heard") }
	} else {
		s.Signals = l.signals()
	}
	if l.Callbacks.Signals != nil {
		s.Signals = l.Callbacks.Signals(s.Signals)
	}
	return policy.New(lib, s)
}

// leavingSignals hands a call whose policies need scripts to a process of the caller.
type leavingSignals struct{ *Where }

// Gather hands the call over and returns nothing.
func (s leavingSignals) Gather(context.Context, *cardea.Event, policy.Folder, []string) map[string]policy.SignalValue {
	s.leave("signals are to run")
	return nil
}

// signals returns the runner for the signals of all policies.
func (l *Loaded) signals() *signals.Runner {
	w := &l.Where
	return &signals.Runner{Project: w.Project, Find: l.signal, Redact: l.Callbacks.Redact, Secrets: l.Callbacks.Secrets, Judge: l.Callbacks.Judge, Judged: l.Settings.Judge.Enabled, State: w.State, Start: w.Start}
}

// PolicyFacts returns the settings that policies see as input.cardea.settings.
func (l *Loaded) PolicyFacts() map[string]any {
	p := &l.Settings.Policies
	return map[string]any{"checks": jsontext.List(p.Checks), "protected": jsontext.List(l.protected()), "context": jsontext.List(p.Context)}
}

// protected returns the protected paths, with the user's home folder for "~".
func (l *Loaded) protected() []string {
	out := slices.Clone(l.Settings.Policies.Protected)
	for i, path := range out {
		if rest, home := strings.CutPrefix(path, "~"); home && l.Where.Dirs.Home != "" && (rest == "" || rest[0] == '/') {
			out[i] = l.Where.Dirs.Home + rest
		}
	}
	return out
}

// policyFolders returns the folders whose policies apply to an event. They are those of all
// scopes, and those of surrounding projects, of which only deny and ask decisions apply.
func (l *Loaded) policyFolders(ev *cardea.Event) []policy.Folder {
	out := l.PolicyFolders()
	projects, _ := l.projectsNearby(ev)
	for _, project := range projects {
		out = append(out, policy.Folder{Dir: filepath.Join(project, ".cardea", "policies"), Scope: cardea.ScopeProject, Inside: project, Nearby: true,
			Trusts: func(string, []byte) bool { return false }})
	}
	for i := range out {
		// Such a function has outside access, and the daemon may have more access than the
		// caller.
		if len(out[i].Extra) > 0 && l.Where.leave("policies may use functions that reach outside") {
			out[i].Extra = nil
		}
	}
	return out
}

// policyFolder returns the folder of policies of a scope, false if there can be none.
func (l *Loaded) policyFolder(at folder) (policy.Folder, bool) {
	if at.dir == "" {
		return policy.Folder{}, false
	}
	f := policy.Folder{Dir: filepath.Join(at.dir, "policies"), Scope: at.scope, Inside: at.inside, Tightens: at.tightens, Extra: l.functions(at)}
	absent := l.absent.Folder(f.Dir) && (at.scope != cardea.ScopeProject || len(l.gone(f.Dir)) == 0)
	if absent || l.doubt(f.Dir, at) != nil {
		return policy.Folder{}, false
	}
	if at.scope == cardea.ScopeProject {
		f.Trusts = func(path string, data []byte) bool { return l.counts(path, at, data) }
		f.Known = l.Where.Known
		f.Gone = func() []string { return l.gone(f.Dir) }
		if f.Trusted = l.Where.Trusted(); !f.Trusted {
			f.Extra = nil
		}
	}
	return f, true
}

// gone returns the policies in a folder that the user accepted and that are missing.
func (l *Loaded) gone(dir string) []string {
	if l.Where.Accepted == nil {
		return nil
	}
	return slices.DeleteFunc(l.Where.Accepted(), func(path string) bool {
		_, err := os.Stat(path)
		return err == nil || !policy.IsFile(filepath.Base(path)) || strings.HasSuffix(path, "_test.rego") || !paths.Within(dir, path)
	})
}

// functions returns OPA's functions with outside access that policies may use. Only system
// and organisation can name them. Functions of an organisation that does not apply here are
// for its own policies.
func (l *Loaded) functions(at folder) []string {
	var out []string
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		admins := f.Scope == cardea.ScopeSystem || f.Scope == cardea.ScopeOrg
		if admins && (f.Counts || filepath.Dir(f.Path) == at.dir) {
			out = append(out, f.Values.Policies.Functions...)
		}
	}
	return out
}

// PolicyFolders returns the folders of policies of all scopes, and the built-in policies
// that are on.
func (l *Loaded) PolicyFolders() []policy.Folder {
	var out []policy.Folder
	if f, ok := l.builtins(); ok {
		out = append(out, f)
	}
	for _, at := range l.folders() {
		if f, ok := l.policyFolder(at); ok {
			out = append(out, f)
		}
	}
	return out
}

// HasSignal reports whether the policies of a folder have a signal of this name.
func (l *Loaded) HasSignal(f policy.Folder, name string) bool {
	if f.Scope == cardea.ScopeBuiltin && signals.IsBuiltin(name) || name == signals.Watchdog && l.Settings.Judge.Enabled {
		return true // a signal of the gate or the judge
	}
	script, answer := l.signal(f, name)
	return script != nil || answer.Value != nil
}
