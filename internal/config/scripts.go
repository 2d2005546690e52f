package config

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/shell"
	scripts "cardea.dev/internal/signal"
)

// signals runs the signals that policies need, each once an event. It is made
// for one event.
type signals struct {
	loaded *Loaded
	mu     sync.Mutex
	said   map[scripts.Script]policy.Answer
	stdin  []byte
}

// reserve is how much of the time that is left is kept for what comes after the
// signals.
const reserve = 0.15

// Gather runs signals for policies of a scope. A name means the signal of that
// scope, else that of the next stronger one: what a project calls "branch" must
// not answer for the person's.
func (s *signals) Gather(ctx context.Context, ev *cardea.Event, scope cardea.Scope, names []string) map[string]policy.Answer {
	out := map[string]policy.Answer{}
	var run []scripts.Script
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
	results := scripts.Gather(ctx, run, s.event(ev))
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
	data, err := json.Marshal(s.shown(in))
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
			v = strings.ToValidUTF8(v[:maxShown], "") + " … (cut)"
		}
		return s.loaded.Aids.Redact(v)
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
func (l *Loaded) signal(scope cardea.Scope, name string) (*scripts.Script, policy.Answer) {
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
func (l *Loaded) signalOf(scope cardea.Scope, name string) (*scripts.Script, policy.Answer) {
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		def, there := f.Values.Signals[name]
		if f.Scope != scope || !f.Found || !there {
			continue
		}
		if scope == cardea.ScopeProject {
			if state := l.standing(append([]string{f.Path}, l.scriptsIn(def.Command)...)); state != accepted {
				return nil, state.answer(name)
			}
		}
		if def.Wrong != "" {
			return nil, policy.Answer{Value: policy.NotRun("the signal " + name + " cannot be read: " + def.Wrong)}
		}
		return &scripts.Script{Name: name, Command: def.Command, Limit: time.Duration(def.TimeoutSeconds) * time.Second}, policy.Answer{}
	}
	for _, path := range l.scopeFiles(scope, "signals") {
		base := filepath.Base(path)
		if base != name && strings.TrimSuffix(base, filepath.Ext(base)) != name {
			continue
		}
		if scope == cardea.ScopeProject {
			if state := l.standing([]string{path}); state != accepted {
				return nil, state.answer(name)
			}
		}
		return &scripts.Script{Name: name, File: path}, policy.Answer{}
	}
	return nil, policy.Answer{}
}

// standing is what the person said about files of the project.
type standing uint8

const (
	accepted standing = iota
	never
	changed
)

// answer is what a signal says whose script does not run.
func (s standing) answer(name string) policy.Answer {
	why := "the script of signal " + name + " was never trusted"
	if s == changed {
		why = "the script of signal " + name + " is not as it was trusted"
	}
	return policy.Answer{Value: policy.NotRun(why), Untrusted: true, Changed: s == changed}
}

// standing tells whether files of the project are as the person accepted them:
// the worst of all.
func (l *Loaded) standing(paths []string) standing {
	worst := accepted
	for _, path := range paths {
		data, _, err := readFile(path, l.Where.Project)
		switch {
		case err == nil && data != nil && l.counts(path, cardea.ScopeProject, data):
		case l.Where.Known != nil && l.Where.Known(path):
			worst = changed
		case worst == accepted:
			worst = never
		}
	}
	return worst
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

// scriptsIn are the files of the project that a command names: what it runs is
// what they say, so they are accepted with it. The command is read as bash reads
// it (cd tools && ./a.sh), and by its words, whatever they stand in. What a script
// starts by itself is not seen.
func (l *Loaded) scriptsIn(command string) []string {
	project := l.Where.Project
	named := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t\n'\"`;|&()<>=$", c) })
	for i, word := range named {
		named[i] = from(project, word)
	}
	for _, p := range shell.Analyse(command, shell.Env{Cwd: project, Home: l.Where.Dirs.Home, Roots: []string{project}}).Parts {
		for _, w := range p.Argv {
			if w.Static && p.Dir != "" {
				named = append(named, from(p.Dir, w.Text))
			}
		}
		for _, a := range p.Access {
			named = append(named, a.Path)
		}
		if len(p.Command) > 0 && p.Dir != "" {
			for _, file := range recipes[p.Command[0]] {
				named = append(named, from(p.Dir, file))
			}
		}
	}
	var out []string
	for _, path := range named {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && Within(Resolve(project), Resolve(path)) && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// recipes are the files in which programs find what to run, without being told.
var recipes = map[string][]string{
	"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"}, "just": {"justfile", "Justfile", ".justfile"},
	"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"}, "rake": {"Rakefile"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
}

// from is a path in a folder; an absolute one is itself.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
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
				paths = append(paths, l.scriptsIn(c)...)
			}
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		if data, _, err := readFile(path, l.Where.Project); err == nil && data != nil {
			l.counts(path, cardea.ScopeProject, data)
		}
	}
	return paths
}

// Trusts reports whether a file counts in full as it is now.
func (l *Loaded) Trusts(path string) bool { return l.standing([]string{path}) == accepted }

// Commands are the commands that a file of settings names, in a fixed order.
func (f *SettingsFile) Commands() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.Values.Signals)) {
		out = append(out, f.Values.Signals[name].Command)
	}
	a := f.Values.Actions
	lists := [][]Command{a.OnAnyDenial, a.OnHalt, a.OnAsk}
	for _, rule := range slices.Sorted(maps.Keys(a.Violations)) {
		lists = append(lists, a.Violations[rule])
	}
	for _, list := range lists {
		for _, c := range list {
			out = append(out, c.Command)
		}
	}
	return out
}

// policyFiles are the project's files of policies.
func (l *Loaded) policyFiles() []string {
	f, ok := l.policyFolder(l.project())
	if !ok {
		return nil
	}
	return f.Paths()
}
