package cli

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/install"
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

// missingEvents are those of some events that a harness could bring, and no hook that
// was found does.
func missingEvents(h install.Harness, found install.Findings, events []string) []string {
	events = slices.DeleteFunc(slices.Clone(events), func(e string) bool {
		_, err := h.On([]string{e})
		return err != nil
	})
	more, err := h.On(events)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(found.Missing(more), func(e string) bool { return !slices.Contains(events, e) })
}

// eventFindings finds what waits for events that do not come. Without any hook
// there is nothing to compare with. It looks at the harness whose words for events
// are the canonical ones.
func eventFindings(p Process, l *inforce.Loaded) []cardea.Diagnostic {
	h, err := install.Find(claudecode.Name)
	if err != nil {
		return nil
	}
	found := install.Inspect(h, siteOf(p).at)
	if len(found.Wirings) == 0 {
		return nil
	}
	var out []cardea.Diagnostic
	for _, s := range listeners(l) {
		if missing := missingEvents(h, found, s.events); len(missing) > 0 {
			out = append(out, cardea.Diagnostic{File: s.file, Line: s.line, Column: 1, Severity: cardea.LevelWarning, Code: cardea.CodeNotAsked,
				Text: fmt.Sprintf("it needs %s, which no hook brings here", strings.Join(missing, ", ")),
				Hint: fmt.Sprintf("run \"cardea install %s --events %s\"", h.Program, strings.Join(missing, ","))})
		}
	}
	return out
}
