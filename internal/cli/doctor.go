package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/hook"
)

// The states of a harness's hook.
const (
	stateLive   = "live"
	stateReady  = "ready"
	stateSilent = "registered but not firing"
	stateNone   = "not configured"
)

// checkup holds the findings of doctor, and is its JSON.
type checkup struct {
	OK bool `json:"ok"`
	// Off is until when the person switched the gate off in all sessions, "" if it is on.
	Off       string       `json:"off,omitempty"`
	Harnesses []hookReport `json:"harnesses"`
	// Judge lists the providers that are asked, if the judge is on.
	Judge []judge.Availability `json:"judge"`
	// Daemon is the state of the daemon.
	Daemon daemonReport `json:"daemon"`
	// Queue holds the findings about the queue, nil if it is not used.
	Queue *queueReport `json:"queue,omitempty"`
	// Sandbox has a line for each file with denies of Cardea: whether they are current, and
	// whether the sandbox is on.
	Sandbox []string `json:"sandbox,omitempty"`
	// The diagnostics here belong to no harness.
	report
}

// hookReport holds the findings about one harness.
type hookReport struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Version string `json:"version"`
	// LastEvent is when the harness last called the hook, to the minute, "" for never.
	LastEvent string           `json:"last_event"`
	Wirings   []install.Wiring `json:"wirings"`
	// Probes has a line for each hook that denied the probe.
	Probes []string `json:"probes"`
	report
}

// doctorCommand returns the command "doctor".
func doctorCommand(p Process) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "doctor [claude|copilot|codex|…] [--json]",
		Short: "check that the hook is registered and works",
		Long: `Read every file in which a harness looks for hooks, and try the hook.

A harness lets the call run if its hook cannot start. So doctor starts the
registered command as the harness would, with the call "rm -rf /". The call is
only judged, not run, and must be denied. doctor does this only if the
registered command is this program.

  live                       the call was denied, and the harness calls the hook
  ready                      the call was denied; no session has called the hook yet
  registered but not firing  a problem is named
  not configured             no hook of Cardea is registered

If the judge is switched on, its providers are asked for their models, which
costs no tokens. The command that gives a key runs. Where calls wait in the queue, doctor
says whether it can be used, and whether the hooks have time enough to wait.

With the name of a harness only its hooks are checked.`,
		Args:      atMostOneArgument,
		ValidArgs: install.Words(),
	}, func(only []string, asJSON bool) error { return doctor(p, only, asJSON) })
}

// doctor checks all harnesses, or the one in only, and shows the findings.
func doctor(p Process, only []string, asJSON bool) error {
	s, harnesses := harnessPathsOf(p), install.Harnesses()
	if len(only) > 0 {
		h, err := install.Find(only[0])
		if err != nil {
			return wrongUsage{err}
		}
		harnesses = []install.Harness{h}
	}
	c := checkup{OK: true, Judge: []judge.Availability{}, Daemon: daemonReport{State: daemonNone}, report: report{notNil(policyProblems(p))}}
	if len(only) == 0 {
		c.checkJudge(p)
	}
	configured := false
	for _, h := range harnesses {
		r := examine(p, s, h)
		configured = configured || r.State != stateNone
		c.OK = c.OK && !diagnostic.HasError(r.Diagnostics)
		c.Harnesses = append(c.Harnesses, r)
	}
	if len(only) == 0 {
		c.checkDaemon(p)
		c.tellHTTP(p)
		c.checkQueue(p)
		c.checkSandbox(p, s)
	}
	c.checkPause(p, s)
	c.OK = c.OK && configured && !diagnostic.HasError(c.Diagnostics)
	loaded := load(p, &s.Place, nil)
	for _, t := range slices.Concat(s.Place.Issues, hook.SetUpChanges(s.At, loaded)) {
		c.Diagnostics = append(c.Diagnostics, t.Diagnostic)
	}
	if !configured {
		c.add(diagnostic.LevelWarning, install.CodeNoHook, "run \"cardea install claude\", or another harness's name (cardea install --help)", "Cardea is the hook of no harness")
	}
	return failIf(!c.OK, p.answer(asJSON, c, func(out *screen) { c.show(out, p.Now()) }))
}

// add adds a diagnostic without a file.
func (r *report) add(severity diagnostic.Level, code diagnostic.Code, hint, text string) {
	r.Diagnostics = append(r.Diagnostics, diagnostic.Diagnostic{Severity: severity, Code: code, Text: text, Hint: hint})
}

// checkPause reports a pause of the gate, or an ignored file of a pause.
func (c *checkup) checkPause(p Process, s harnessPaths) {
	if _, err := s.Place.Store.Paused(p.Now()); err != nil {
		c.add(diagnostic.LevelWarning, diagnostic.CodeIgnored, "", err.Error())
	}
	c.Off = s.Place.Paused(p.Now())
}

// policyProblems returns why the policies in force cannot be evaluated, or nil.
func policyProblems(p Process) []diagnostic.Diagnostic {
	l, _, err := gather(p, nil)
	if err != nil {
		return nil // without a working folder there is nothing to check
	}
	for _, f := range l.PolicyFolders() {
		if len(f.Paths()) == 0 {
			continue
		}
		if err := p.Engines.Own.Ready(); err != nil {
			return []diagnostic.Diagnostic{{File: f.Dir, Code: diagnostic.CodeNoEngine, Text: "the policies ask instead of deciding, since " + err.Error()}}
		}
		return nil
	}
	return nil
}

// examine checks one harness.
func examine(p Process, s harnessPaths, h install.Harness) hookReport {
	found := install.Inspect(h, s.At)
	r := hookReport{Name: h.Name, Title: h.Title, State: stateNone, Wirings: notNil(found.Wirings), Probes: []string{}, report: report{notNil(found.Diagnostics)}}
	last, beat := s.Place.Heartbeats().LastEvent(h.Name)
	if beat {
		r.LastEvent = last.UTC().Format(time.RFC3339)
	}
	if len(found.Wirings) == 0 {
		if h.Installed(s.At, s.Path) {
			r.add(diagnostic.LevelNote, install.CodeNoHook, "run \"cardea install "+h.Program+"\"", "the harness is installed, and has no hook of Cardea")
		}
		return r
	}
	version, why := installFlags{}.harnessVersion(h, s)
	if r.Version = version; version == "" {
		r.add(diagnostic.LevelNote, install.CodeUnknownVersion, "", "the version is not known: "+why)
	}
	denied := r.tryHooks(p, s, h, p.Program)
	r.lookFor(h, s, found)
	if l, _, err := gather(p, nil); err == nil {
		r.Diagnostics = append(r.Diagnostics, graded(diagnostic.LevelError, missingEvents(l, h, found))...)
	}
	r.State = stateSilent
	switch {
	case !denied || diagnostic.HasError(r.Diagnostics):
	case beat:
		r.State = stateLive
	default:
		r.State = stateReady
		r.add(diagnostic.LevelNote, install.CodeNoEvent, "start a new session, let the agent run a command, and look again; messages that you pipe in by hand are not counted",
			"no session has called the hook yet")
	}
	return r
}

// tryHooks probes every hook that can stop a call. It reports whether one is in force and
// denied the probe.
func (r *hookReport) tryHooks(p Process, s harnessPaths, h install.Harness, exe string) (denied bool) {
	dir := cmp.Or(s.At.Project, s.Place.Dirs.Home)
	r.Diagnostics = append(r.Diagnostics, h.Untrusted(s.At, r.Wirings)...)
	for _, w := range r.Wirings {
		r.Diagnostics = append(r.Diagnostics, w.Diagnostics...)
		fail := func(code diagnostic.Code, hint, format string, args ...any) {
			r.Diagnostics = append(r.Diagnostics, w.Says(diagnostic.LevelError, code, hint, format, args...))
		}
		if w.Open() && w.Event == h.Gate() {
			r.Diagnostics = append(r.Diagnostics, w.Says(diagnostic.LevelWarning, install.CodeOpenFile, "run \"cardea install "+h.Program+" --http\" again", "%s", install.OtherToken(w.File, s.At.State)))
		}
		switch {
		case w.Off != "":
			fail(install.CodeSwitchedOff, "", "it is switched off by %s", w.Off)
		case w.Event != h.Gate():
		case w.URL == "" && !w.SameProgram(exe):
			fail(install.CodeOtherProgram, "run doctor of that program, or install again", "its program is not this one (%s), so it was not tried", exe)
		default:
			how, err := tryHook(p, s, h, w, dir)
			if err != nil {
				fail(install.CodeNotDenied, "", "%v", err)
				continue
			}
			denied = true
			r.Probes = append(r.Probes, fmt.Sprintf("%s:%d: \"rm -rf /\" is denied%s", w.File, w.Line, how))
		}
	}
	return denied
}

// tryHook probes a hook. how says so if that started no program.
func tryHook(p Process, s harnessPaths, h install.Harness, w install.Wiring, dir string) (how string, err error) {
	if w.URL != "" {
		return ", over HTTP; with another HOME or XDG_* folder than the daemon's it is blocked", probeHTTP(p, s, h, w, dir)
	}
	return "", install.Probe(context.Background(), h, w, dir, os.Environ())
}

// lookFor reports problems of the hooks as a whole.
func (r *hookReport) lookFor(h install.Harness, s harnessPaths, found install.Findings) {
	for _, event := range found.Missing(h) {
		r.add(diagnostic.LevelError, install.CodeNoHook, "run \"cardea install "+h.Program+"\"", "no hook is in force for "+event)
	}
	const typed = ", so a prompt such as \"/cardea register coder\" is not answered"
	lacks := found.Lacks(h.Prompts(r.Version)...)
	switch {
	case len(lacks) > 0:
		r.add(diagnostic.LevelNote, install.CodeNoHook, "run \"cardea install "+h.Program+"\"", "no hook is in force for "+strings.Join(lacks, ", ")+typed)
	case !found.KnowsCommand(h):
		r.add(diagnostic.LevelNote, install.CodeNoHook, "run \"cardea install "+h.Program+"\"", h.Title+" does not know the command /cardea"+typed)
	}
	if lacks := found.Lacks(h.Reviews(r.Version)...); len(lacks) > 0 {
		r.add(diagnostic.LevelNote, install.CodeNoHook, "run \"cardea install "+h.Program+"\"", "no hook is in force for "+strings.Join(lacks, ", ")+", so what the reviewer of "+h.Title+" denies is not recorded")
	}
	_, tooNew, _ := h.On(r.Version)
	for _, event := range h.Late {
		const only = "so shell commands in skills and slash commands are judged only from their files"
		if slices.Contains(tooNew, event) {
			r.add(diagnostic.LevelNote, install.CodeNoHook, "update it to "+h.Since(event)+" or newer", h.Title+" before "+h.Since(event)+" does not send "+event+", "+only)
		} else if len(found.Lacks(event)) > 0 {
			r.add(diagnostic.LevelWarning, install.CodeNoHook, "run \"cardea install "+h.Program+"\"", "no hook is in force for "+event+", "+only)
		}
	}
	first := map[string]install.Wiring{}
	for _, w := range r.Wirings {
		note := func(code diagnostic.Code, hint, format string, args ...any) {
			r.Diagnostics = append(r.Diagnostics, w.Says(diagnostic.LevelNote, code, hint, format, args...))
		}
		if before, twice := first[w.Event]; twice {
			note(install.CodeJudgedTwice, "", "%s is also in %s:%d, so calls may be judged twice", w.Event, before.File, before.Line)
		} else {
			first[w.Event] = w
		}
		if why := h.Open(w, r.Version); why != "" {
			note(install.CodeFailsOpen, h.Repair(w), "%s, so a call runs if its hook fails", why)
		}
	}
	if h.Name == claudecode.Name {
		for _, text := range readers(s, r.Wirings) {
			r.add(diagnostic.LevelNote, install.CodeJudgedTwice, "", text)
		}
	}
}

// readers returns warnings about other harnesses that seem to be in use here and also run
// Claude Code's hooks (docs/harnesses.md#hooks-of-one-harness-in-another).
func readers(s harnessPaths, wirings []install.Wiring) []string {
	here := func(dirs ...string) bool { return slices.ContainsFunc(dirs, isFolder) }
	home, project := s.Place.Dirs.Home, s.At.Project
	inProject, inUser := false, false
	for _, w := range wirings {
		inProject = inProject || project != "" && filepath.Dir(filepath.Dir(w.File)) == project
		inUser = inUser || w.Scope == install.User
	}
	var out []string
	if (inProject || inUser) && here(filepath.Join(home, ".cursor"), filepath.Join(project, ".cursor")) {
		out = append(out, "Cursor runs these hooks too, without PermissionRequest; what would be asked is denied there")
	}
	if inProject && here(s.At.User[copilotcli.Name]) {
		out = append(out, "Copilot CLI runs the hooks of .claude/settings.json too; with a hook of its own it judges calls twice")
	}
	if (inProject || inUser) && here(filepath.Join(home, ".vscode"), filepath.Join(project, ".vscode")) {
		out = append(out, "VS Code's agent runs these hooks too")
	}
	return out
}

// show writes the checkup for people.
func (c checkup) show(out *screen, now time.Time) {
	out.printIf(c.Off != "", "%s\n", painted{red, "Cardea is off " + c.Off + "; run \"cardea enable\" to switch it on"})
	var absent []string
	for _, r := range c.Harnesses {
		if r.State == stateNone && len(r.Diagnostics) == 0 && r.LastEvent == "" {
			absent = append(absent, r.Title)
			continue
		}
		style := yellow
		if r.State == stateLive || r.State == stateReady {
			style = green
		} else if diagnostic.HasError(r.Diagnostics) {
			style = red
		}
		out.printf("%s: %s\n", r.Title, painted{style, r.State})
		out.field("version", r.Version)
		h, _ := install.Find(r.Name) // it always exists
		for _, w := range r.Wirings {
			out.printf("  %s  %s  %s:%d\n", w.Event, w.Scope, w.File, w.Line)
			out.printf("    %s\n", w.Command())
			out.printf("    %s%s\n", h.Limits(w.Timeout, w.Limit), prefixed(", on failure: ", w.OnFailure))
		}
		for _, t := range r.Probes {
			out.printf("  %s  %s\n", painted{green, "tried"}, t)
		}
		if len(r.Wirings) > 0 || r.LastEvent != "" {
			out.field("last call by the harness", ago(r.LastEvent, now))
		}
		showDiagnostics(out, r.Diagnostics)
	}
	out.printIf(len(absent) > 0, "%s: %s\n", stateNone, strings.Join(absent, ", "))
	c.showJudge(out)
	c.showDaemon(out)
	c.showQueue(out)
	for _, line := range c.Sandbox {
		out.printf("%s\n", line)
	}
	showDiagnostics(out, c.Diagnostics)
}

// ago returns a moment in words.
func ago(stamp string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return "none yet"
	}
	return hook.Age(now.Sub(t)) + " ago"
}
