package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/project"
	"cardea.dev/internal/script"
	"cardea.dev/internal/script/triggered"
	"cardea.dev/internal/script/trusted"
)

// signals runs the signals that policies need, each once an event.
type signals struct {
	loaded *Loaded
	mu     sync.Mutex
	// about is the event that the rest belongs to: a call that was rewritten is
	// another one.
	about *cardea.Event
	said  map[script.Signal]policy.Answer
	stdin []byte
	// secrets are those of the event, and cut tells that not all of a text is
	// shown.
	secrets []string
	cut     bool
}

// turn forgets what belongs to another event.
func (s *signals) turn(ev *cardea.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.about != ev {
		s.about, s.said, s.stdin = ev, map[script.Signal]policy.Answer{}, nil
	}
}

// reserve is how much of the time that is left is kept for what comes after the
// signals.
const reserve = 0.15

// Gather runs signals for policies of a scope. A name means the signal of that
// scope, else that of the next stronger one: what a project calls "branch" must
// not answer for the person's.
func (s *signals) Gather(ctx context.Context, ev *cardea.Event, scope cardea.Scope, names []string) map[string]policy.Answer {
	s.turn(ev)
	out := map[string]policy.Answer{}
	var run []script.Signal
	for _, name := range names {
		if scope == cardea.ScopeBuiltin {
			if answer, own := s.own(ev, name); own {
				if answer.Value != nil {
					out[name] = answer
				}
				continue
			}
		}
		script, answer := s.loaded.signal(scope, name)
		if script == nil {
			if answer.Value != nil {
				out[name] = answer
			}
			continue
		}
		script.Dir = s.loaded.Where.Project
		if script.Dir == "" {
			script.Dir = ev.Cwd
		}
		s.mu.Lock()
		a, known := s.said[*script]
		s.mu.Unlock()
		if known {
			out[name] = a
		} else {
			run = append(run, *script)
		}
	}
	if len(run) == 0 {
		return out
	}
	if end, limited := ctx.Deadline(); limited {
		sub, cancel := context.WithDeadline(ctx, end.Add(-time.Duration(reserve*float64(time.Until(end)))))
		defer cancel()
		ctx = sub
	}
	results := script.Gather(ctx, run, s.event(ev))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, script := range run {
		r := results[script.Name]
		a := policy.Answer{Value: r.Value, Took: r.Took, Unstarted: r.Unstarted}
		s.said[script], out[script.Name] = a, a
	}
	return out
}

// event is what scripts read: the input of policies, without what was sent, and
// with every text redacted.
func (s *signals) event(ev *cardea.Event) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stdin != nil {
		return s.stdin
	}
	in := policy.Input(ev, nil, nil)
	delete(in, "raw")
	delete(in, "signals")
	s.secrets, s.cut = s.secretsIn(in, nil), false
	slices.SortFunc(s.secrets, func(a, b string) int { return len(b) - len(a) })
	in, _ = s.shown(in).(map[string]any)
	if facts, ok := in["cardea"].(map[string]any); ok {
		facts["cut"] = s.cut
	}
	data, err := json.Marshal(in)
	if err != nil {
		data = []byte("{}")
	}
	s.stdin = append(data, '\n')
	return s.stdin
}

// maxShown is how much of a text scripts are shown, in bytes. A call can hold
// megabytes, and must not gain time by them.
const maxShown = 64 << 10

// shown is a JSON value with every text redacted; without a redactor nothing is
// shown.
func (s *signals) shown(v any) any {
	switch v := v.(type) {
	case string:
		if s.loaded.Aids.Redact == nil {
			return ""
		}
		if len(v) > maxShown {
			v, s.cut = strings.ToValidUTF8(v[:maxShown], "")+" … (cut)", true
		}
		return s.loaded.Aids.Redact(s.without(v))
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			name, _ := s.shown(k).(string)
			out[name] = s.named(k, e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = s.shown(e)
		}
		return out
	}
	return v
}

// secretsIn are the secrets in all texts of a JSON value, in each form in which
// the analysis may have them: what is a secret by what stands before it stands
// alone as a word of a part.
func (s *signals) secretsIn(v any, all []string) []string {
	switch v := v.(type) {
	case string:
		if s.loaded.Aids.Secrets == nil {
			return all
		}
		for _, secret := range s.loaded.Aids.Secrets(v) {
			for _, form := range []string{secret, unquoted.Replace(secret)} {
				if len(form) >= minSecret && !slices.Contains(all, form) {
					all = append(all, form)
				}
			}
		}
	case map[string]any:
		for k, e := range v {
			if text, ok := e.(string); ok {
				all = s.secretsIn(k+"="+text, all)
			}
			all = s.secretsIn(e, all)
		}
	case []any:
		for _, e := range v {
			all = s.secretsIn(e, all)
		}
	}
	return all
}

// minSecret is the length of the shortest secret that is looked for elsewhere.
// A shorter one would be found in every second word.
const minSecret = 4

// unquoted takes the shell's quotes off.
var unquoted = strings.NewReplacer("'", "", `"`, "", `\`, "")

// without is a text without the event's secrets.
func (s *signals) without(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "<REDACTED>")
	}
	return text
}

// named is the value of a field, redacted: its name may be what makes it a
// secret.
func (s *signals) named(key string, v any) any {
	text, ok := v.(string)
	if !ok {
		return s.shown(v)
	}
	both, _ := s.shown(key + "=" + text).(string)
	if value, found := strings.CutPrefix(both, key+"="); found && value != text {
		return value
	}
	return s.shown(text)
}

// nearest are the scopes in which a signal is looked for, nearest first.
func nearest(scope cardea.Scope) []cardea.Scope {
	all := []cardea.Scope{cardea.ScopeProject, cardea.ScopeUser, cardea.ScopeOrg, cardea.ScopeSystem}
	switch i := slices.Index(all, scope); {
	case i >= 0:
		return all[i:]
	default: // built-in policies take the person's word before the project's
		return []cardea.Scope{cardea.ScopeUser, cardea.ScopeOrg, cardea.ScopeSystem, cardea.ScopeProject}
	}
}

// signal finds the script of a signal, or what is said in its place. Both are
// empty where there is none.
func (l *Loaded) signal(scope cardea.Scope, name string) (*script.Signal, policy.Answer) {
	for _, at := range nearest(scope) {
		script, answer := l.signalOf(at, name)
		if script != nil || answer.Value != nil {
			return script, answer
		}
	}
	return nil, policy.Answer{}
}

// signalOf finds a signal of one scope: among the settings, else among the files
// in signals/.
func (l *Loaded) signalOf(scope cardea.Scope, name string) (*script.Signal, policy.Answer) {
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		def, there := f.Values.Signals[name]
		if f.Scope != scope || !f.Found || !there {
			continue
		}
		if scope == cardea.ScopeProject {
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
			return nil, policy.Answer{Value: policy.NotRun("the signal " + name + " cannot be read: " + def.Wrong)}
		}
		return &script.Signal{Name: name, Command: def.Command, Limit: time.Duration(def.TimeoutSeconds) * time.Second}, policy.Answer{}
	}
	for _, path := range l.scopeFiles(scope, "signals") {
		base := filepath.Base(path)
		if base != name && strings.TrimSuffix(base, filepath.Ext(base)) != name {
			continue
		}
		if scope == cardea.ScopeProject {
			if state := l.scripts().State([]string{path}); state != trusted.Accepted {
				return nil, refusal(state, name)
			}
		}
		return &script.Signal{Name: name, File: path}, policy.Answer{}
	}
	return nil, policy.Answer{}
}

// refusal is what a signal answers whose script does not run.
func refusal(s trusted.State, name string) policy.Answer {
	if s == trusted.Changed {
		return policy.Refused("the script of signal "+name+" is not as you trusted it", true)
	}
	return policy.Refused("the script of signal "+name+" was never trusted, so it does not run", false)
}

// scripts tells which scripts the person accepted.
func (l *Loaded) scripts() trusted.Place {
	return trusted.Place{Project: l.Where.Project, Home: l.Where.Dirs.Home, Trust: l.Where.Trust, Known: l.Where.Known}
}

// Actions are the commands that run after a verdict.
func (l *Loaded) Actions(ev *cardea.Event, v *cardea.Verdict) []script.Action {
	return triggered.Actions(l.SettingsFiles, ev, v, l.Where.Project, l.scripts().MayRun)
}

// NotExecutable are the scripts of all scopes that are started as they are, and may
// not be executed.
func (l *Loaded) NotExecutable() []cardea.Diagnostic {
	var signals []string
	for _, scope := range []cardea.Scope{cardea.ScopeSystem, cardea.ScopeOrg, cardea.ScopeUser, cardea.ScopeProject} {
		signals = append(signals, l.scopeFiles(scope, "signals")...)
	}
	return l.scripts().NotExecutable(signals, l.SettingsFiles)
}

// maxScripts bounds how many files a folder of scripts may hold.
const maxScripts = 256

// scopeFiles are the files in a folder of a scope, sorted, hidden ones left out.
func (l *Loaded) scopeFiles(scope cardea.Scope, name string) []string {
	var out []string
	for _, at := range l.folders() {
		if at.scope != scope || at.dir == "" {
			continue
		}
		dir := filepath.Join(at.dir, name)
		if l.doubt(dir, at) != nil {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > maxScripts {
			continue
		}
		for _, e := range entries {
			if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out
}

// ReadScripts reads what the project brings besides settings, rules and routes,
// so that the person can accept it: policies, signals, scripts that commands
// name, and lessons. What it says is not looked at here.
func (l *Loaded) ReadScripts() []string {
	if l.Where.Project == "" {
		return nil
	}
	paths := l.policyFiles()
	for _, name := range []string{"signals", "actions", "lessons"} {
		paths = append(paths, l.scopeFiles(cardea.ScopeProject, name)...)
	}
	for i := range l.SettingsFiles {
		if f := &l.SettingsFiles[i]; f.Scope == cardea.ScopeProject {
			for _, c := range f.Commands() {
				paths = append(paths, l.scripts().FilesOf(c).All...)
			}
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		if data, _, err := project.ReadFile(path, l.Where.Project); err == nil && data != nil {
			l.counts(path, cardea.ScopeProject, data)
		}
	}
	return paths
}

// Unrunnable are the commands of the project that do not run although the person
// accepts them, each with the reason and what to do.
func (l *Loaded) Unrunnable() []string {
	var out []string
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if f.Scope != cardea.ScopeProject {
			continue
		}
		for _, c := range f.Commands() {
			b := l.scripts().FilesOf(c)
			if b.Unseen != "" {
				out = append(out, fmt.Sprintf("%s: %q does not run: %s", f.Path, c, b.Unseen))
			}
			for _, file := range b.All {
				if _, _, err := project.ReadFile(file, l.Where.Project); err != nil {
					out = append(out, fmt.Sprintf("%s: %q does not run: %s: %v", f.Path, c, file, err))
				}
			}
		}
	}
	for _, path := range l.scopeFiles(cardea.ScopeProject, "signals") {
		if _, _, err := project.ReadFile(path, l.Where.Project); err != nil {
			out = append(out, fmt.Sprintf("%s does not run: %v", path, err))
		}
	}
	return out
}

// Trusts reports whether a file counts in full as it is now.
func (l *Loaded) Trusts(path string) bool {
	return l.scripts().State([]string{path}) == trusted.Accepted
}

// policyFiles are the project's files of policies.
func (l *Loaded) policyFiles() []string {
	f, ok := l.policyFolder(l.project())
	if !ok {
		return nil
	}
	return f.Paths()
}
