package cli

import (
	"fmt"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/settings"
)

// listener is something in force that waits for events, and where it is written.
type listener struct {
	file   string
	line   int
	events []string
}

// listeners are the rules, policies and settings that wait for events. Those of
// policies that nobody can read are told elsewhere.
func listeners(l *inforce.Loaded) []listener {
	var out []listener
	if at, given := l.Given("policies.checks"); given {
		out = append(out, listener{at.File, at.Line, []string{"PostToolUse"}}) // that a check succeeded is told there
	}
	if at, given := l.Given("sessions.registration"); given && l.Settings.Sessions.Required() {
		out = append(out, listener{at.File, at.Line, []string{"UserPromptSubmit"}}) // that the session needs a role is told there
	}
	if l.Settings.Learn != settings.LearnOff {
		at, _ := l.Given("learn")
		out = append(out, listener{at.File, at.Line, []string{"PermissionRequest", "PostToolUse"}}) // what the person allowed is seen there
	}
	for _, r := range l.Rules() {
		file, line := cardea.SplitSource(r.Source)
		out = append(out, listener{file, line, r.Events})
	}
	for _, f := range l.PolicyFolders() {
		list, _, err := f.List(l.Where.Engines.Own)
		if err != nil {
			continue
		}
		for _, x := range list {
			if !x.Library && (x.Trusted || f.Scope != cardea.ScopeProject) {
				out = append(out, listener{x.File, x.Line, x.Events})
			}
		}
	}
	return out
}

// neededEvents are the events that something in force waits for, by a harness's names.
func neededEvents(h install.Harness, l *inforce.Loaded) []string {
	var kinds []string
	for _, s := range listeners(l) {
		kinds = append(kinds, s.events...)
	}
	return h.Named(kinds)
}

// eventFindings finds what waits for events that do not come from the harnesses that
// Cardea is the hook of.
func eventFindings(p Process, l *inforce.Loaded) []cardea.Diagnostic {
	at := siteOf(p).At
	var out []cardea.Diagnostic
	for _, h := range install.Harnesses() {
		out = append(out, missingEvents(l, h, install.Inspect(h, at))...)
	}
	return out
}

// missingEvents finds what waits for events that a harness could bring, and that no
// hook brings. Without any hook there is nothing to compare with.
func missingEvents(l *inforce.Loaded, h install.Harness, found install.Findings) []cardea.Diagnostic {
	if len(found.Wirings) == 0 {
		return nil
	}
	var out []cardea.Diagnostic
	for _, s := range listeners(l) {
		if s.file == "" {
			continue // nobody wrote that it is to be so
		}
		if missing := found.Lacks(h.Named(s.events)...); len(missing) > 0 {
			out = append(out, cardea.Diagnostic{File: s.file, Line: s.line, Column: 1, Severity: cardea.LevelWarning, Code: cardea.CodeNotAsked,
				Text: fmt.Sprintf("it needs %s, which no hook of %s brings here", strings.Join(missing, ", "), h.Title),
				Hint: fmt.Sprintf("run \"cardea install %s --events %s\"", h.Program, strings.Join(missing, ","))})
		}
	}
	return out
}
