package cli

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/gate"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/install"
)

// speaker is something in force that speaks on events, and where it is written.
type speaker struct {
	file   string
	line   int
	events []string
}

// speakers are the rules, policies and settings that speak on events. Those of
// policies that nobody can read are told elsewhere.
func speakers(l *gate.Loaded) []speaker {
	var out []speaker
	if at, given := l.Given("policies.checks"); given {
		out = append(out, speaker{at.File, at.Line, []string{"PostToolUse"}}) // that a check succeeded is told there
	}
	for i := range l.Rules {
		r := &l.Rules[i]
		file, line := cardea.SplitSource(r.Source)
		out = append(out, speaker{file, line, r.Events})
	}
	for _, f := range l.PolicyFolders() {
		list, _, err := f.List(l.Where.Engines.Own)
		if err != nil {
			continue
		}
		for _, x := range list {
			if !x.Library && (x.Trusted || f.Scope != cardea.ScopeProject) {
				out = append(out, speaker{x.File, x.Line, x.Events})
			}
		}
	}
	return out
}

// unheard are those of some events that a harness could bring, and no hook that
// was found does.
func unheard(h install.Harness, found install.Findings, events []string) []string {
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

// spokenInVain finds what speaks on events that do not come. Without any hook
// there is nothing to compare with. It looks at the harness whose words for events
// are the canonical ones.
func spokenInVain(p Process, l *gate.Loaded) []cardea.Diagnostic {
	h, err := install.Find(claudecode.Name)
	if err != nil {
		return nil
	}
	found := install.Inspect(h, siteOf(p).at)
	if len(found.Wirings) == 0 {
		return nil
	}
	var out []cardea.Diagnostic
	for _, s := range speakers(l) {
		if missing := unheard(h, found, s.events); len(missing) > 0 {
			out = append(out, cardea.Diagnostic{File: s.file, Line: s.line, Column: 1, Severity: cardea.LevelWarning, Code: cardea.CodeNotAsked,
				Text: fmt.Sprintf("it needs %s, which no hook brings here", strings.Join(missing, ", ")),
				Hint: fmt.Sprintf("run \"cardea install %s --events %s\"", h.Program, strings.Join(missing, ","))})
		}
	}
	return out
}
