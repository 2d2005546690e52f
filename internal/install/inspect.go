package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"cardea.dev/internal/jsonedit"
	"cardea.dev/internal/limit"
)

// Wiring is one hook of Cardea's in a harness's settings.
type Wiring struct {
	Scope Scope  `json:"scope"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	Event string `json:"event"`
	// Program and Args are what the harness starts; Shell is the line where it
	// starts a shell instead.
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Shell   string   `json:"shell,omitempty"`
	// Timeout is the harness's time limit, Limit Cardea's own.
	Timeout time.Duration `json:"timeout_ns"`
	Limit   time.Duration `json:"limit_ns"`
	// OnFailure is the harness's switch, "" where it is not set.
	OnFailure string `json:"on_failure,omitempty"`
	// Off says why the harness does not run it, "" where it does.
	Off string `json:"off,omitempty"`
	// Problems are what keeps it from being a gate.
	Problems []string `json:"problems,omitempty"`
}

// Findings are what a harness's settings say about hooks.
type Findings struct {
	Wirings []Wiring
	// Problems are files that cannot be read, Notes those that the harness
	// may not be able to read.
	Problems, Notes []string
}

// settings is one file that a harness reads hooks from.
type settings struct {
	scope Scope
	path  string
	doc   *jsonedit.Document
}

// Inspect looks through all files that a harness reads hooks from.
func Inspect(h Harness, at Places) Findings {
	var out Findings
	var files []settings
	for _, f := range h.files(at) {
		in, err := open(f.path, "")
		if err == nil && !in.exists {
			continue
		}
		if err == nil {
			f.doc, err = jsonedit.Parse(in.data)
		}
		if err == nil && f.doc.Root.Kind != jsonedit.Object {
			err = errors.New("1:1: the file holds no object")
		}
		if err != nil {
			out.Problems = append(out.Problems, fmt.Sprintf("%s:%v; the harness cannot read its hooks there, mend the file", f.path, err))
			continue
		}
		files = append(files, f)
	}
	for _, f := range files {
		for _, s := range spots(f.doc.Root) {
			if note := unplain(h, f.doc.Data); note != "" && (len(out.Wirings) == 0 || out.Wirings[len(out.Wirings)-1].File != f.path) {
				out.Notes = append(out.Notes, f.path+": "+note)
			}
			w := h.wiring(f, s)
			w.Off = h.off(f, files)
			out.Wirings = append(out.Wirings, w)
		}
	}
	return out
}

// files lists what a harness reads hooks from, the strongest first.
func (h Harness) files(at Places) []settings {
	var out []settings
	add := func(scope Scope, base string, patterns ...string) {
		if base == "" {
			return
		}
		for _, p := range patterns {
			found, _ := filepath.Glob(filepath.Join(escapeGlob(base), filepath.FromSlash(p)))
			sort.Strings(found)
			for _, f := range found {
				out = append(out, settings{scope: scope, path: f})
			}
		}
	}
	if h.ownFile {
		add(Managed, at.CopilotPolicy, "*.json")
		add(Project, at.Project, ".github/copilot/settings.local.json", ".github/copilot/settings.json", ".github/hooks/*.json")
		add(User, at.Copilot, "settings.json", "hooks/*.json")
		return out
	}
	add(Managed, at.ClaudeManaged, "managed-settings.json", "managed-settings.d/*.json")
	add(local, at.Project, ".claude/settings.local.json")
	add(Project, at.Project, ".claude/settings.json")
	add(User, at.Claude, "settings.json")
	return out
}

// escapeGlob takes a folder's name as it stands.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	var out []rune
	for _, r := range dir {
		if slices.Contains([]rune(`*?[\`), r) {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

// wiring reads one entry.
func (h Harness) wiring(f settings, s spot) Wiring {
	w := Wiring{Scope: f.scope, File: f.path, Event: s.event, OnFailure: s.handler.Str("onFailure")}
	w.Line, _ = jsonedit.Position(f.doc.Data, s.handler.Start)
	w.Program, w.Args = invocation(s.handler)
	if _, ok := s.handler.Get("args").Words(); !ok {
		for _, key := range []string{"command", "exec", "bash"} {
			if w.Shell == "" {
				w.Shell = s.handler.Str(key)
			}
		}
	}
	w.Timeout = h.defaultTimeout()
	for _, key := range []string{"timeout", h.timeout} {
		if lit := s.handler.Lit(key); lit != "" {
			w.Timeout = seconds(lit)
		}
	}
	w.Limit = limitOf(w.Args)
	w.Problems = h.problems(w, s)
	return w
}

// defaultTimeout is the harness's own time limit for a hook that gives none.
func (h Harness) defaultTimeout() time.Duration {
	if h.grouped {
		return 600 * time.Second
	}
	return 30 * time.Second
}

// limitOf reads --limit.
func limitOf(args []string) time.Duration {
	if d, err := time.ParseDuration(flagOf(args, "--limit")); err == nil {
		return d
	}
	return limit.Hook
}

// flagOf is the value of a flag, "" where it is not given.
func flagOf(args []string, name string) string {
	out := ""
	for i, a := range args {
		if a == name && i+1 < len(args) {
			out = args[i+1]
		} else if len(a) > len(name) && a[:len(name)+1] == name+"=" {
			out = a[len(name)+1:]
		}
	}
	return out
}

// problems says what keeps an entry from being a gate.
func (h Harness) problems(w Wiring, s spot) []string {
	var out []string
	matcher := s.handler.Str("matcher")
	if s.group != nil {
		matcher = s.group.Str("matcher")
	}
	if matcher != "" && matcher != "*" {
		out = append(out, fmt.Sprintf("it runs only for tools that match %q; all other calls pass unseen", matcher))
	}
	if s.handler.Get("if") != nil {
		out = append(out, "it has a condition (if), which runs some calls past it")
	}
	if s.handler.Lit("async") == "true" || s.handler.Lit("asyncRewake") == "true" {
		out = append(out, "it runs in the background, where a hook cannot decide")
	}
	for _, key := range []string{"env", "cwd"} {
		if s.handler.Get(key) != nil {
			out = append(out, fmt.Sprintf("it sets %s, which can change whose settings count", key))
		}
	}
	if kind := s.handler.Str("type"); kind != "command" && !(kind == "" && h.ownFile) {
		out = append(out, fmt.Sprintf("its type is %q, so its command is not run", kind))
	}
	if w.Timeout <= w.Limit {
		out = append(out, fmt.Sprintf("the harness waits %s and Cardea takes up to %s; a harness that stops waiting lets the call run", w.Timeout, w.Limit))
	}
	if name := flagOf(w.Args, "--harness"); name != "" && name != h.Name {
		out = append(out, fmt.Sprintf("it answers in the form of %s, which %s may not read", name, h.Title))
	}
	return out
}

// off says why a harness does not run the hooks of a file, "" where it does.
func (h Harness) off(f settings, all []settings) string {
	if h.ownFile {
		for _, g := range all {
			if f.scope != Managed && g.scope == f.scope && g.doc.Root.Lit("disableAllHooks") == "true" && (g.path == f.path || filepath.Base(filepath.Dir(g.path)) != "hooks") {
				return "disableAllHooks in " + g.path
			}
		}
		return ""
	}
	for _, g := range all {
		switch {
		case g.scope == Managed && f.scope != Managed && g.doc.Root.Lit("allowManagedHooksOnly") == "true":
			return "allowManagedHooksOnly in " + g.path + "; install with --managed"
		case f.scope == Managed && g.scope != Managed:
			return ""
		case g.doc.Root.Lit("disableAllHooks") == "true":
			return "disableAllHooks in " + g.path
		case g.doc.Root.Lit("disableAllHooks") == "false":
			return ""
		}
	}
	return ""
}

// Missing are the events that no hook of Cardea's answers.
func (f Findings) Missing(h Harness) []string {
	var out []string
	for _, event := range h.events {
		if !slices.ContainsFunc(f.Wirings, func(w Wiring) bool { return w.Event == event && w.Off == "" }) {
			out = append(out, event)
		}
	}
	return out
}

// Gate is the event in which a call can be stopped before it runs.
func (h Harness) Gate() string { return h.events[0] }

// Installed reports whether a harness seems to be used on this machine.
func (h Harness) Installed(at Places, path []string) bool {
	dir := at.Claude
	if h.ownFile {
		dir = at.Copilot
	}
	if _, err := os.Stat(dir); dir != "" && !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return lookup(h.Program, path, at.Project) != ""
}
