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

// Callbacks are what policies need besides files. The zero value does without.
type Callbacks struct {
	// Redact takes secrets from a text; signals see no text without it.
	Redact func(string) string
	// Redactor takes secrets from what lessons are looked up by; nil makes a new one.
	Redactor *redact.Redactor
	// Secrets are the secrets in a text, as they stand there; nil finds none.
	Secrets func(string) []string
	// Once reports whether something was not said yet in this session.
	Once func(key string) bool
	// Judge asks the judge about an event, for the signal watchdog; nil: nobody is asked.
	Judge func(ctx context.Context, ev *cardea.Event) any
	// JudgeNow is the judge that there is, whose lessons count; nil: there is none.
	JudgeNow func() *lesson.Judge
	// Signals puts something in front of what runs signals; nil puts nothing there.
	Signals func(policy.Signals) policy.Signals
	// Trace gets what policies did, for a person who asks why.
	Trace func(policy.Step)
}

// Warm reads and compiles the policies of the person and the project that are
// routed to an event, while everything else is read: what the process then
// judges by is [Where.Policies].
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

// oneLook is how long a look at a folder counts in a process that judges one
// call: for the whole of it.
const oneLook = time.Minute

// index is the cache of indexes of a place.
func (w Where) index() *state.Indexes {
	if w.Policies != nil {
		if c, ok := w.Policies.Cache.(*state.Indexes); ok {
			return c
		}
	}
	return state.NewIndexes("policies", w.Dirs.Cache, w.State)
}

// Policies are the policies of all scopes.
func (l *Loaded) Policies() *policy.Policies {
	lib := l.Where.Policies
	lib = cmp.Or(lib, &policy.Library{Engines: l.Where.Engines, Recheck: oneLook})
	if lib.Cache == nil {
		lib.Cache = l.index
	}
	if lib.Tool == nil {
		lib.Tool = harness.ToolWord
	}
	s := policy.Settings{Facts: l.PolicyFacts(), Folders: l.policyFolders, Once: l.Callbacks.Once, Trace: l.Callbacks.Trace}
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

// leavingSignals leaves a call whose policies need scripts.
type leavingSignals struct{ *Where }

// Gather says so.
func (s leavingSignals) Gather(context.Context, *cardea.Event, policy.Folder, []string) map[string]policy.Answer {
	s.leave("signals are to run")
	return nil
}

// signals answers the signals of all policies.
func (l *Loaded) signals() *signals.Runner {
	w := &l.Where
	return &signals.Runner{Project: w.Project, Find: l.signal, Redact: l.Callbacks.Redact, Secrets: l.Callbacks.Secrets, Judge: l.Callbacks.Judge, Judged: l.Settings.Judge.Enabled, State: w.State, Start: w.Start}
}

// PolicyFacts are the settings that policies see as input.cardea.settings.
func (l *Loaded) PolicyFacts() map[string]any {
	p := &l.Settings.Policies
	return map[string]any{"checks": jsontext.List(p.Checks), "protected": jsontext.List(l.protected()), "context": jsontext.List(p.Context)}
}

// protected are the protected paths, with the person's home folder for "~".
func (l *Loaded) protected() []string {
	out := slices.Clone(l.Settings.Policies.Protected)
	for i, path := range out {
		if rest, home := strings.CutPrefix(path, "~"); home && l.Where.Dirs.Home != "" && (rest == "" || rest[0] == '/') {
			out[i] = l.Where.Dirs.Home + rest
		}
	}
	return out
}

// policyFolders are the folders whose policies count for an event: those of all
// scopes, and of the projects around the call, whose denies and asks count.
func (l *Loaded) policyFolders(ev *cardea.Event) []policy.Folder {
	out := l.PolicyFolders()
	projects, _ := l.projectsAround(ev)
	for _, project := range projects {
		out = append(out, policy.Folder{Dir: filepath.Join(project, ".cardea", "policies"), Scope: cardea.ScopeProject, Inside: project, Around: true,
			Trusts: func(string, []byte) bool { return false }})
	}
	for i := range out {
		// Such a function reaches outside, and the daemon may reach further than the caller.
		if len(out[i].Extra) > 0 && l.Where.leave("policies may use functions that reach outside") {
			out[i].Extra = nil
		}
	}
	return out
}

// policyFolder is the folder of policies of a scope; it reports false where
// there can be none.
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

// gone are the policies in a folder that the person accepted and that are not
// there.
func (l *Loaded) gone(dir string) []string {
	if l.Where.Accepted == nil {
		return nil
	}
	return slices.DeleteFunc(l.Where.Accepted(), func(path string) bool {
		_, err := os.Stat(path)
		return err == nil || !policy.IsFile(filepath.Base(path)) || strings.HasSuffix(path, "_test.rego") || !paths.Within(dir, path)
	})
}

// functions are OPA's functions that policies may use although they reach
// outside: system and organisation name them, nobody else. What an organisation names
// that does not count here is for its own policies.
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

// PolicyFolders are the folders of policies of all scopes, and the built-in
// policies that are on.
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

// HasSignal reports whether the policies of a folder have a signal of a name.
func (l *Loaded) HasSignal(f policy.Folder, name string) bool {
	if f.Scope == cardea.ScopeBuiltin && signals.IsBuiltin(name) || name == signals.Watchdog && l.Settings.Judge.Enabled {
		return true // the gate's own, or the judge's
	}
	script, answer := l.signal(f, name)
	return script != nil || answer.Value != nil
}
