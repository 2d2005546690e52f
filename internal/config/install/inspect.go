package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
)

// Wiring is a hook of Cardea in a harness's settings.
type Wiring struct {
	Scope Scope  `json:"scope"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	Event string `json:"event"`
	// Program and Args are what the harness starts. Shell is the line if it starts a shell
	// instead.
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Shell   string   `json:"shell,omitempty"`
	// URL is the address to which the harness sends the hook instead of starting a program,
	// without the token.
	URL string `json:"url,omitempty"`
	// token is the token that is sent with the hook.
	token string
	// key is the key of the shell line, if there is one.
	key string
	// group and index are the position of the handler under its event; matcher is that of its
	// group.
	group, index int
	matcher      string
	// Timeout is the harness's time limit, 0 if unknown. Limit is Cardea's own.
	Timeout time.Duration `json:"timeout_ns"`
	Limit   time.Duration `json:"limit_ns"`
	// OnFailure is the value of the harness's switch, "" if it is not set.
	OnFailure string `json:"on_failure,omitempty"`
	// Off is why the harness does not run the hook, "" if it does.
	Off string `json:"off,omitempty"`
	// Diagnostics holds what prevents it from being a gate.
	Diagnostics []diagnostic.Diagnostic `json:"-"`
}

// Findings holds the hooks found in a harness's settings.
type Findings struct {
	Wirings []Wiring
	// Diagnostics holds errors for unreadable files, and notes on files that the harness may
	// not be able to read.
	Diagnostics []diagnostic.Diagnostic
}

// The codes of problems with hooks.
const (
	// CodeSomeCalls: the hook sees only some of the calls.
	CodeSomeCalls diagnostic.Code = "some-calls"
	// CodeBackground: the hook runs in the background, where it cannot decide.
	CodeBackground diagnostic.Code = "background"
	// CodeEnvironment: the hook sets what can change whose settings apply.
	CodeEnvironment diagnostic.Code = "environment"
	// CodeTimeLimit: the harness stops waiting before Cardea answers.
	CodeTimeLimit diagnostic.Code = "time-limit"
	// CodeOtherForm: the hook answers in another harness's format.
	CodeOtherForm diagnostic.Code = "other-form"
	// CodeSwitchedOff: the harness does not run the hook.
	CodeSwitchedOff diagnostic.Code = "switched-off"
	// CodeOtherProgram: the hook starts another program than this one.
	CodeOtherProgram diagnostic.Code = "other-program"
	// CodeNotDenied: the hook did not deny a call that it must deny.
	CodeNotDenied diagnostic.Code = "not-denied"
	// CodeNoHook: no hook is in force for an event.
	CodeNoHook diagnostic.Code = "no-hook"
	// CodeOtherHook: a hook of another program decides as well.
	CodeOtherHook diagnostic.Code = "other-hook"
	// CodeUnknownVersion: the harness does not report its version.
	CodeUnknownVersion diagnostic.Code = "unknown-version"
	// CodeNoEvent: no real event has come yet.
	CodeNoEvent diagnostic.Code = "no-event"
	// CodeFailsOpen: a call runs if the hook fails.
	CodeFailsOpen diagnostic.Code = "fails-open"
	// CodeDaemon: the daemon is not used or not running.
	CodeDaemon diagnostic.Code = "daemon"
	// CodeJudgedTwice: a call may be evaluated twice, or also by another harness's hook.
	CodeJudgedTwice diagnostic.Code = "judged-twice"
	// CodeChanged: the small program that starts the hook was changed.
	CodeChanged diagnostic.Code = "changed"
	// CodeNotTrusted: the harness skips the hook until a person trusts it.
	CodeNotTrusted diagnostic.Code = "not-trusted"
	// CodeStoredEvents: the hook stays registered for events of an earlier
	// installation.
	CodeStoredEvents diagnostic.Code = "kept-events"
	// CodeOpenFile: others can read a file with the token of HTTP.
	CodeOpenFile diagnostic.Code = "open-file"
)

// broken returns the diagnostic of a file that cannot be parsed.
func broken(file, hint string, err error) diagnostic.Diagnostic {
	d := diagnostic.Diagnostic{File: file, Code: diagnostic.CodeUnreadable, Text: err.Error(), Hint: hint}
	if at, is := errors.AsType[*jsonedit.SyntaxError](err); is {
		d.Code, d.Line, d.Column, d.Text = diagnostic.CodeSyntax, at.Line, at.Column, at.Text
	}
	return d
}

// hooksFile is a file from which a harness reads hooks.
type hooksFile struct {
	scope Scope
	path  string
	doc   *jsonedit.Document
}

// Hooks returns the part of a settings file that determines which hooks run. If the file is
// not JSON, such as a JavaScript plugin, it returns all of it.
func Hooks(path string) ([]byte, error) {
	data, err := state.ReadLinked(path, maxFile)
	if err != nil {
		return nil, err
	}
	d, err := jsonedit.Parse(data)
	if err != nil {
		return data, nil
	}
	var out []byte
	for _, key := range []string{"hooks", "disableAllHooks", "allowManagedHooksOnly"} {
		for _, n := range d.Root.All(key) {
			out = fmt.Appendf(out, "%s: %s\n", key, data[n.Start:n.End])
		}
	}
	return out, nil
}

// Inspect finds the hooks in all files that a harness reads.
func Inspect(h Harness, at Places) Findings {
	var out Findings
	if h.plugin != nil {
		out.Wirings, out.Diagnostics = h.programWirings(at)
		return out
	}
	var files []hooksFile
	for _, f := range append(h.files(at), h.pluginFiles(at)...) {
		in, err := open(f.path, "")
		if err == nil && !in.exists {
			continue
		}
		if err == nil {
			f.doc, err = jsonedit.Parse(in.data)
		}
		if err == nil && f.doc.Root.Kind != jsonedit.Object {
			err = &jsonedit.SyntaxError{Line: 1, Column: 1, Text: "the file holds no object"}
		}
		if err != nil {
			out.Diagnostics = append(out.Diagnostics, broken(f.path, "mend the file, since the harness cannot read its hooks there", err))
			continue
		}
		files = append(files, f)
	}
	for _, f := range files {
		if f.scope == Plugin {
			for _, w := range h.pluginWirings(f, at) {
				w.Off = h.off(f, files)
				out.Wirings = append(out.Wirings, w)
			}
			continue
		}
		out.Diagnostics = append(out.Diagnostics, h.others(f)...)
		for _, s := range spots(f.doc.Root) {
			if len(out.Wirings) == 0 || out.Wirings[len(out.Wirings)-1].File != f.path {
				out.Diagnostics = append(out.Diagnostics, unplain(h, f.path, f.doc.Data)...)
			}
			w := h.wiring(f, s)
			w.Off = h.off(f, files)
			out.Wirings = append(out.Wirings, w)
		}
	}
	return out
}

// others returns notes on hooks of other programs that also decide about calls. A user who
// changed gates may want to remove the old one.
func (h Harness) others(f hooksFile) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	var told []string
	for _, s := range handlers(f.doc.Root, func(n *jsonedit.Node) bool { return !isOurs(n) && lineOf(n) != "" }) {
		line := lineOf(s.handler)
		if !slices.ContainsFunc(h.events, func(e string) bool { return strings.EqualFold(e, s.event) }) || slices.Contains(told, line) {
			continue
		}
		told = append(told, line)
		at, _ := jsonedit.Position(f.doc.Data, s.handler.Start)
		out = append(out, diagnostic.Diagnostic{Severity: diagnostic.LevelNote, File: f.path, Line: at, Code: CodeOtherHook,
			Text: "another hook decides about calls, too: " + firstLine(line), Hint: "remove it if Cardea takes its place; the strictest answer counts"})
	}
	return out
}

// lineOf returns what a handler of any program starts or calls, "" if n is not a handler.
func lineOf(n *jsonedit.Node) string {
	for _, key := range []string{"command", "exec", "bash", "powershell", "url"} {
		if s := n.Str(key); s != "" {
			return s
		}
	}
	return ""
}

// files returns the files from which a harness reads hooks, the strongest first.
func (h Harness) files(at Places) []hooksFile {
	var out []hooksFile
	for _, r := range h.reads {
		base := at.base(h, r.scope)
		if base == "" {
			continue
		}
		found, _ := filepath.Glob(filepath.Join(escapeGlob(base), filepath.FromSlash(r.pattern)))
		slices.Sort(found)
		for _, f := range found {
			if !h.ofAnother(f) {
				out = append(out, hooksFile{scope: r.scope, path: f})
			}
		}
	}
	return out
}

// ofAnother reports whether a file is Cardea's own for a harness that shares this one's
// folder. Both harnesses read that file and start its hook (docs/harnesses).
func (h Harness) ofAnother(file string) bool {
	return slices.ContainsFunc(Harnesses(), func(o Harness) bool {
		return o.shared && o.Name != h.Name && filepath.Base(file) == filepath.Base(filepath.FromSlash(o.user))
	})
}

// escapeGlob escapes the wildcards in a folder's name.
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

// wiring returns the hook of one handler.
func (h Harness) wiring(f hooksFile, s spot) Wiring {
	w := Wiring{Scope: f.scope, File: f.path, Event: s.event, OnFailure: h.onFailure(s.handler)}
	w.Line, _ = jsonedit.Position(f.doc.Data, s.handler.Start)
	w.group, w.index, w.matcher = s.at, s.i, s.group.Str("matcher")
	w.Program, w.Args = invocation(s.handler)
	if _, ok := s.handler.Get("args").Words(); !ok {
		for _, key := range []string{"command", "exec", "bash", "powershell"} {
			if w.Shell == "" {
				w.Shell, w.key = s.handler.Str(key), key
			}
		}
	}
	w.readPosting(s.handler)
	w.Timeout = h.usual
	for _, key := range []string{"timeout", h.timeout} {
		if lit := s.handler.Lit(key); lit != "" {
			w.Timeout = timeLimit(lit, h.unit)
		}
	}
	w.Limit = limitOf(w.Args)
	w.Diagnostics = h.problems(w, s)
	return w
}

// onFailure returns the action for a failing hook: the value of the harness's switch, or
// "deny" if the hook's line denies.
func (h Harness) onFailure(handler *jsonedit.Node) string {
	line := lineOf(handler)
	switch {
	case h.switchKey != "" && handler.Str(h.switchKey) != "":
		return handler.Str(h.switchKey)
	case line != withoutShut(line):
		return "deny"
	case handler.Lit("failClosed") == "true":
		return "block"
	}
	return ""
}

// limitOf returns the value of --limit, or its default.
func limitOf(args []string) time.Duration {
	if d, err := time.ParseDuration(flagOf(args, "--limit")); err == nil {
		return d
	}
	return limit.Hook
}

// flagOf returns the value of a flag, "" if it is missing.
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

// Says returns a diagnostic about the hook.
func (w Wiring) Says(severity diagnostic.Level, code diagnostic.Code, hint, format string, args ...any) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Severity: severity, File: w.File, Line: w.Line, Code: code, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// limited reports whether a harness has a known time limit for a hook.
func (h Harness) limited() bool { return h.timeout != "" || h.plugin != nil }

// Limits describes the time limits of the harness and of Cardea.
func (h Harness) Limits(timeout, own time.Duration) string {
	if !h.limited() {
		return fmt.Sprintf("%s documents no time limit, Cardea answers within %s", h.Title, own)
	}
	return fmt.Sprintf("time limit %s, Cardea answers within %s", timeout, own)
}

// Repair returns how to fix a hook: the command that installs it again, or an update of the
// plugin.
func (h Harness) Repair(w Wiring) string {
	if w.Scope == Plugin {
		return "update the plugin, or take \"cardea install " + h.Program + "\" in its place"
	}
	return "run \"cardea install " + h.Program + "\" again"
}

// problems returns what prevents an entry from being a gate.
func (h Harness) problems(w Wiring, s spot) (out []diagnostic.Diagnostic) {
	say := func(code diagnostic.Code, format string, args ...any) {
		out = append(out, w.Says(diagnostic.LevelError, code, h.Repair(w), format, args...))
	}
	matcher := s.handler.Str("matcher")
	if s.group != nil {
		matcher = s.group.Str("matcher")
	}
	if matcher != "" && matcher != "*" {
		say(CodeSomeCalls, "it runs only for tools that match %q; all other calls pass unseen", matcher)
	}
	if s.handler.Get("if") != nil {
		say(CodeSomeCalls, "it has a condition (if), which runs some calls past it")
	}
	if s.handler.Lit("async") == "true" || s.handler.Lit("asyncRewake") == "true" {
		say(CodeBackground, "it runs in the background, where a hook cannot decide")
	}
	for _, key := range []string{"env", "cwd"} {
		if s.handler.Get(key) != nil {
			say(CodeEnvironment, "it sets %s, which can change whose settings count", key)
		}
	}
	if w.URL != "" {
		if code, text := h.postingProblem(w); text != "" {
			say(code, "%s", text)
		}
	} else if kind := s.handler.Str("type"); kind != "command" && !(kind == "" && !h.grouped) {
		say(diagnostic.CodeBadValue, "its type is %q, so its command is not run", kind)
	}
	if h.limited() && w.Timeout <= w.Limit {
		say(CodeTimeLimit, "the harness waits %s and Cardea takes up to %s; a harness that stops waiting lets the call run", w.Timeout, w.Limit)
	}
	if name := flagOf(w.Args, "--harness"); name != "" && harness.Canonical(name) != h.Name {
		say(CodeOtherForm, "it answers in the form of %s, which %s may not read", name, h.Title)
	}
	return out
}

// off returns why a harness does not run the hooks of a file, "" if it does.
func (h Harness) off(f hooksFile, all []hooksFile) string {
	switch h.Name {
	case claudecode.Name:
		return offByStrength(f, all)
	case copilotcli.Name:
		for _, g := range all {
			if f.scope != Managed && g.scope == f.scope && g.doc.Root.Lit("disableAllHooks") == "true" && (g.path == f.path || filepath.Base(filepath.Dir(g.path)) != "hooks") {
				return "disableAllHooks in " + g.path
			}
		}
		return ""
	}
	for _, g := range all {
		if why := switchedOff(g.doc.Root, f.scope); why != "" {
			return why + " in " + g.path
		}
	}
	return ""
}

// switchedOff returns the key that switches hooks off, for harnesses that adopted Claude
// Code's format. Such a key is assumed to apply in any of their files.
func switchedOff(root *jsonedit.Node, scope Scope) string {
	config := root.Get("hooksConfig")
	switch disabled, _ := config.Get("disabled").Words(); {
	case root.Lit("disableAllHooks") == "true":
		return "disableAllHooks"
	case scope != Managed && root.Lit("allowManagedHooksOnly") == "true":
		return "allowManagedHooksOnly"
	case config != nil && config.Lit("enabled") == "false":
		return "hooksConfig.enabled"
	case slices.Contains(disabled, "cardea"):
		return "hooksConfig.disabled"
	}
	return ""
}

// offByStrength implements Claude Code's rule: the strongest file with a setting applies.
func offByStrength(f hooksFile, all []hooksFile) string {
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

// Open returns why a call runs if a hook fails although this version of the harness could
// stop it. It returns "" if the call is stopped, or cannot be.
func (h Harness) Open(w Wiring, version string) string {
	switch {
	case FailsClosed(h, version) && w.OnFailure != "block":
		return h.switchKey + " is missing"
	case h.shut != "" && runtime.GOOS != "windows" && w.OnFailure == "" && slices.Contains(h.gates, w.Event):
		return "its line does not deny where its program is missing or fails"
	}
	return ""
}

// Untrusted returns errors for hooks that the harness skips until the user trusts them, one
// per file.
func (h Harness) Untrusted(at Places, all []Wiring) (out []diagnostic.Diagnostic) {
	if h.trusted == nil {
		return nil
	}
	events, first := map[string][]string{}, map[string]Wiring{}
	for _, w := range all {
		if w.Off != "" || w.Scope == Managed {
			continue
		}
		ok, err := h.trusted(at, h, w)
		if err != nil {
			out = append(out, w.Says(diagnostic.LevelNote, CodeNotTrusted, h.Trust, "it cannot be told whether %s trusts the hook for %s: %v", h.Title, w.Event, err))
		} else if !ok {
			if events[w.File] == nil {
				first[w.File] = w
			}
			events[w.File] = append(events[w.File], w.Event)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(events)) {
		out = append(out, first[file].Says(diagnostic.LevelError, CodeNotTrusted, h.Trust, "%s skips the hook for %s, since it is not trusted", h.Title, strings.Join(events[file], ", ")))
	}
	return out
}

// WhenFailing describes what happens to a call whose hook fails, in a version. If version
// is "", why is the reason why it is unknown. closed is set if the harness was configured
// to block.
func (h Harness) WhenFailing(version, why string, closed bool) string {
	switch {
	case closed:
		return h.Title + " " + version + " blocks a call if its hook fails (" + h.switchKey + ")"
	case h.left != "":
		return h.Title + " " + h.left
	case runtime.GOOS == "windows":
		return h.Title + " lets a call run if its hook fails"
	}
	text := h.Title + " lets a call run if its hook fails, so the hook's line denies where its program is missing or fails; if it takes too long, the call runs"
	since := dotted(h.switchSince)
	switch {
	case h.switchKey == "":
		return text
	case version != "":
		return strings.Replace(text, h.Title, h.Title+" "+version, 1) + "; update it to " + since + " or newer, and install again"
	}
	return text + ". The version is not known (" + why + "), so " + h.switchKey + " is left out; give the version with --harness-version"
}

// Missing returns the events of a harness without an active hook of Cardea.
func (f Findings) Missing(h Harness) []string { return f.Lacks(h.events...) }

// Lacks returns those of the events without an active hook of Cardea.
func (f Findings) Lacks(events ...string) []string {
	return slices.DeleteFunc(slices.Clone(events), func(event string) bool {
		return slices.ContainsFunc(f.Wirings, func(w Wiring) bool { return w.Event == event && w.Off == "" })
	})
}

// Gate returns the event that can stop a call before it runs.
func (h Harness) Gate() string { return h.gates[0] }

// Installed reports whether a harness seems to be used on this machine.
func (h Harness) Installed(at Places, path []string) bool {
	dir := at.User[h.Name]
	_, err := os.Stat(dir)
	return dir != "" && !h.shared && !errors.Is(err, fs.ErrNotExist) || lookup(h.Program, path, at.Project) != ""
}
