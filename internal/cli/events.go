package cli

import (
	"fmt"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/settings"
)

// listener is a rule, policy or setting in force that needs events, with its position.
type listener struct {
	file   string
	line   int
	events []string
}

// listeners returns the rules, policies and settings that need events. It skips unreadable
// policies, which are reported in another place.
func listeners(l *inforce.Loaded) []listener {
	var out []listener
	if at, given := l.Given("policies.checks"); given {
		out = append(out, listener{at.File, at.Line, []string{"PostToolUse"}}) // this event reports that a check succeeded
	}
	if at, given := l.Given("sessions.registration"); given && l.Settings.Sessions.Required() {
		out = append(out, listener{at.File, at.Line, []string{"UserPromptSubmit"}}) // the answer to this event asks for the role
	}
	if l.Settings.Learn != settings.LearnOff {
		at, _ := l.Given("learn")
		out = append(out, listener{at.File, at.Line, []string{"PermissionRequest", "PostToolUse"}}) // these events report what the person allowed
	}
	for _, r := range l.Rules() {
		file, line := diagnostic.SplitSource(r.Source)
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

// neededEvents returns the events that something in force needs, by the harness's names.
func neededEvents(h install.Harness, l *inforce.Loaded) []string {
	var kinds []string
	for _, s := range listeners(l) {
		kinds = append(kinds, s.events...)
	}
	return h.Named(kinds)
}

// eventFindings returns a warning for each needed event that no hook of Cardea sends.
func eventFindings(p Process, l *inforce.Loaded) []diagnostic.Diagnostic {
	at := harnessPathsOf(p).At
	var out []diagnostic.Diagnostic
	for _, h := range install.Harnesses() {
		out = append(out, missingEvents(l, h, install.Inspect(h, at))...)
	}
	return out
}

// missingEvents returns a warning for each needed event that the harness could send and no
// hook sends. Without any hook it returns nil.
func missingEvents(l *inforce.Loaded, h install.Harness, found install.Findings) []diagnostic.Diagnostic {
	if len(found.Wirings) == 0 {
		return nil
	}
	var out []diagnostic.Diagnostic
	for _, s := range listeners(l) {
		if s.file == "" {
			continue // it is a default
		}
		if missing := found.Lacks(h.Named(s.events)...); len(missing) > 0 {
			out = append(out, diagnostic.Diagnostic{File: s.file, Line: s.line, Column: 1, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNotAsked,
				Text: fmt.Sprintf("it needs %s, which no hook of %s brings here", strings.Join(missing, ", "), h.Title),
				Hint: fmt.Sprintf("run \"cardea install %s --events %s\"", h.Program, strings.Join(missing, ","))})
		}
	}
	return out
}
