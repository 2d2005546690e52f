package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/install"
	"github.com/spf13/cobra"
)

// The states of a harness's hook.
const (
	stateLive   = "live"
	stateSilent = "registered but not firing"
	stateNone   = "not configured"
)

// checkup is what doctor finds, and the shape of doctor --json.
type checkup struct {
	OK bool `json:"ok"`
	// Problems are those that are of no harness.
	Problems  []string     `json:"problems"`
	Harnesses []hookReport `json:"harnesses"`
}

// hookReport is what doctor says about one harness.
type hookReport struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Version string `json:"version"`
	// LastEvent is when the last real event came, to the minute; "" is never.
	LastEvent string           `json:"last_event"`
	Wirings   []install.Wiring `json:"wirings"`
	// Probes say what came of each hook that was tried, in order.
	Probes   []string `json:"probes"`
	Problems []string `json:"problems"`
	Notes    []string `json:"notes"`
}

func doctorCommand(p Process) *cobra.Command {
	var asked bool
	c := &cobra.Command{
		Use:   "doctor [--json]",
		Short: "check that the hook is registered and works",
		Long: `Read every file in which a harness looks for hooks, and try the hook.

A harness lets the call run if its hook cannot start. So doctor starts the
registered command as the harness would, with the call "rm -rf /". The call is
only judged, not run, and must be denied. doctor does this only if the
registered command is this program.

  live                       the call was denied, and real events arrive
  registered but not firing  a problem is named, or no real event came yet
  not configured             no hook of Cardea is registered`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return doctor(p, asked) },
	}
	c.Flags().BoolVar(&asked, "json", false, "answer as one JSON object")
	return c
}

func doctor(p Process, asked bool) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	s := siteOf(p)
	var c checkup
	configured := false
	c.OK = true
	for _, h := range install.Harnesses() {
		r := examine(p, s, h, exe)
		configured = configured || r.State != stateNone
		c.OK = c.OK && len(r.Problems) == 0
		c.Harnesses = append(c.Harnesses, r)
	}
	c.Problems = append([]string{}, policyProblems(p)...)
	c.OK = c.OK && configured && len(c.Problems) == 0
	for _, t := range s.place.troubles {
		p.warn(t.Error())
	}
	if asked {
		e := json.NewEncoder(p.Stdout)
		e.SetIndent("", "  ")
		err = e.Encode(c)
	} else {
		err = c.show(screenOn(p.Stdout, p.Env), p.Now(), configured)
	}
	if err == nil && !c.OK {
		return ended(exitError)
	}
	return err
}

// policyProblems say why the policies that are in force cannot be evaluated.
func policyProblems(p Process) []string {
	l, _, err := gather(p, nil)
	if err != nil {
		return nil // without a working folder there is no place to look at
	}
	for _, f := range l.PolicyFolders() {
		if len(f.Paths()) == 0 {
			continue
		}
		if err := p.Engines.Own.Ready(); err != nil {
			return []string{f.Dir + ": its policies ask instead of deciding, since " + err.Error()}
		}
		return nil
	}
	return nil
}

// examine looks at one harness.
func examine(p Process, s site, h install.Harness, exe string) hookReport {
	r := hookReport{Name: h.Name, Title: h.Title, State: stateNone, Wirings: []install.Wiring{}, Probes: []string{}, Problems: []string{}, Notes: []string{}}
	found := install.Inspect(h, s.at)
	r.Wirings = append(r.Wirings, found.Wirings...)
	r.Problems = append(r.Problems, found.Problems...)
	r.Notes = append(r.Notes, found.Notes...)
	last, beat := s.place.heartbeats().LastEvent(h.Name)
	if beat {
		r.LastEvent = last.UTC().Format(time.RFC3339)
	}
	if len(found.Wirings) == 0 {
		if h.Installed(s.at, s.path) {
			r.Notes = append(r.Notes, "run \"cardea install "+h.Program+"\"")
		}
		return r
	}
	version, why := installFlags{}.harnessVersion(h, s)
	if r.Version = version; version == "" {
		r.Notes = append(r.Notes, "the version is not known: "+why)
	}
	denied := r.tryHooks(s, h, exe)
	r.lookFor(h, s, found)
	if h.Name == claudecode.Name { // whose words for events are the canonical ones
		if l, _, err := gather(p, nil); err == nil {
			var events []string
			for _, s := range speakers(l) {
				events = append(events, s.events...)
			}
			if missing := unheard(h, found, events); len(missing) > 0 {
				r.Problems = append(r.Problems, fmt.Sprintf("policies, rules or the setting policies.checks need the events %s, which do not come; run \"cardea install %s --events %s\"",
					strings.Join(missing, ", "), h.Program, strings.Join(missing, ",")))
			}
		}
	}
	r.State = stateSilent
	switch {
	case denied && beat && len(r.Problems) == 0:
		r.State = stateLive
	case denied && !beat:
		r.Notes = append(r.Notes, "no real event has come yet: start a new session, let the agent run a command, and look again")
	}
	return r
}

// tryHooks probes every hook that can stop a call, and reports whether one of
// them is in force and denied what it must.
func (r *hookReport) tryHooks(s site, h install.Harness, exe string) (denied bool) {
	dir := s.at.Project
	if dir == "" {
		dir = s.place.dirs.Home
	}
	for _, w := range r.Wirings {
		where := fmt.Sprintf("%s:%d", w.File, w.Line)
		for _, problem := range w.Problems {
			r.Problems = append(r.Problems, where+": "+problem+"; run \"cardea install "+h.Program+"\" again")
		}
		switch {
		case w.Off != "":
			r.Problems = append(r.Problems, where+": it is switched off by "+w.Off)
			continue
		case w.Event != h.Gate():
			continue
		case !w.SameProgram(exe):
			r.Problems = append(r.Problems, where+": its program is not this one ("+exe+"), so it was not tried; run doctor of that program, or install again")
			continue
		}
		if err := install.Probe(context.Background(), h, w, dir, os.Environ()); err != nil {
			r.Problems = append(r.Problems, where+": "+err.Error())
			continue
		}
		denied = true
		r.Probes = append(r.Probes, where+": \"rm -rf /\" is denied")
	}
	return denied
}

// lookFor finds what is wrong with the hooks together.
func (r *hookReport) lookFor(h install.Harness, s site, found install.Findings) {
	for _, event := range found.Missing(h) {
		r.Problems = append(r.Problems, "no hook is in force for "+event+"; run \"cardea install "+h.Program+"\"")
	}
	first := map[string]install.Wiring{}
	for _, w := range r.Wirings {
		where := fmt.Sprintf("%s:%d", w.File, w.Line)
		if before, twice := first[w.Event]; twice {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s is also in %s:%d, so calls may be judged twice", where, w.Event, before.File, before.Line))
		} else {
			first[w.Event] = w
		}
		if install.FailsClosed(h, r.Version) && w.OnFailure != "block" {
			r.Notes = append(r.Notes, where+": onFailure is missing, so a call runs if its hook fails; run \"cardea install "+h.Program+"\" again")
		}
	}
	if h.Name == claudecode.Name {
		r.Notes = append(r.Notes, readers(s, r.Wirings)...)
	}
}

// readers names the other harnesses that seem to be used here and run Claude
// Code's hooks too (docs/harnesses.md#other-harnesses).
func readers(s site, wirings []install.Wiring) []string {
	here := func(dirs ...string) bool {
		for _, d := range dirs {
			if info, err := os.Stat(d); err == nil && info.IsDir() {
				return true
			}
		}
		return false
	}
	home, project := s.place.dirs.Home, s.at.Project
	inProject, inUser := false, false
	for _, w := range wirings {
		inProject = inProject || project != "" && filepath.Dir(filepath.Dir(w.File)) == project
		inUser = inUser || w.Scope == install.User
	}
	var out []string
	if (inProject || inUser) && here(filepath.Join(home, ".cursor"), filepath.Join(project, ".cursor")) {
		out = append(out, "Cursor runs these hooks too, without PermissionRequest; what would be asked is denied there")
	}
	if inProject && here(s.at.Copilot) {
		out = append(out, "Copilot CLI runs the hooks of .claude/settings.json too; with a hook of its own it judges calls twice")
	}
	if (inProject || inUser) && here(filepath.Join(home, ".vscode"), filepath.Join(project, ".vscode")) {
		out = append(out, "VS Code's agent runs these hooks too")
	}
	return out
}

// show writes the checkup for people.
func (c checkup) show(out *screen, now time.Time, configured bool) error {
	for _, r := range c.Harnesses {
		style := yellow
		if r.State == stateLive {
			style = green
		} else if len(r.Problems) > 0 {
			style = red
		}
		out.printf("%s: %s\n", r.Title, painted{style, r.State})
		if r.Version != "" {
			out.printf("  version %s\n", r.Version)
		}
		for _, w := range r.Wirings {
			out.printf("  %s  %s  %s:%d\n", w.Event, w.Scope, w.File, w.Line)
			out.printf("    %s\n", w.Command())
			out.printf("    time limit %s, Cardea answers within %s%s\n", w.Timeout, w.Limit, onFailure(w))
		}
		for _, t := range r.Probes {
			out.printf("  %s  %s\n", painted{green, "tried"}, t)
		}
		if len(r.Wirings) > 0 || r.LastEvent != "" {
			out.printf("  last real event: %s\n", ago(r.LastEvent, now))
		}
		for _, t := range r.Problems {
			out.printf("  %s  %s\n", painted{red, "problem"}, t)
		}
		for _, t := range r.Notes {
			out.printf("  note  %s\n", t)
		}
	}
	for _, t := range c.Problems {
		out.printf("%s  %s\n", painted{red, "problem"}, t)
	}
	if !configured {
		out.printf("Cardea is the hook of no harness; run \"cardea install claude\" or \"cardea install copilot\"\n")
	}
	return out.err
}

func onFailure(w install.Wiring) string {
	if w.OnFailure == "" {
		return ""
	}
	return ", on failure: " + w.OnFailure
}

// ago is a moment in words.
func ago(stamp string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return "never"
	}
	return age(now.Sub(t)) + " ago"
}

// age is a time span in one word.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return "a minute"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
