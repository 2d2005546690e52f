// Package triggered selects the commands of the settings to run after a verdict.
package triggered

import (
	"slices"
	"sort"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/config/settings"
)

// maxActions is the maximum number of commands after one answer.
const maxActions = 16

// Actions returns the commands to run in folder dir after a verdict. It skips files that do
// not apply. mayRun reports whether the scripts of a command are as the user accepted them.
func Actions(files []settings.File, ev *cardea.Event, v *cardea.Verdict, dir string, mayRun func(scope cardea.Scope, command string) bool) []script.Action {
	if v.Effect < cardea.Ask {
		return nil
	}
	var out []script.Action
	for i := range files {
		f := &files[i]
		if !f.Found || !f.Counts {
			continue
		}
		for _, t := range triggersOf(f.Values.Actions, v) {
			for _, c := range t.commands {
				about := script.About{Trigger: t.name, Effect: v.Effect.String(), Rule: t.rule, Event: string(ev.Kind), Harness: ev.Harness}
				if ev.Call != nil {
					about.Tool = ev.Call.Tool
				}
				if !matches(c.When, about, t.severity) || !mayRun(f.Scope, c.Command) {
					continue
				}
				out = append(out, script.Action{Command: c.Command, Dir: dir, About: about})
			}
		}
	}
	return out[:min(len(out), maxActions)]
}

// trigger is a key of actions that applies to a verdict.
type trigger struct {
	name, rule string
	severity   cardea.Severity
	commands   []settings.Command
}

// triggersOf returns the keys of actions that apply to a verdict: those of its effect, and
// those of the rules that hold the call back.
func triggersOf(a settings.Actions, v *cardea.Verdict) []trigger {
	by, severity := "", cardea.SeverityNone
	ruled := map[string]cardea.Severity{}
	for _, o := range v.Opinions {
		if o.Effect < cardea.Ask || o.Rule == "" {
			continue
		}
		if old, there := ruled[o.Rule]; !there || o.Severity.Rank() > old.Rank() {
			ruled[o.Rule] = o.Severity
		}
		if o.By() == v.By {
			by, severity = o.Rule, o.Severity
		}
	}
	var out []trigger
	if v.Effect >= cardea.Deny {
		out = append(out, trigger{"on_any_denial", by, severity, a.OnAnyDenial})
	}
	if v.Effect == cardea.Halt {
		out = append(out, trigger{"on_halt", by, severity, a.OnHalt})
	}
	if v.Effect == cardea.Ask {
		out = append(out, trigger{"on_ask", by, severity, a.OnAsk})
	}
	var names []string
	for rule := range ruled {
		if len(a.Violations[rule]) > 0 {
			names = append(names, rule)
		}
	}
	sort.Strings(names)
	for _, rule := range names {
		out = append(out, trigger{"violations." + rule, rule, ruled[rule], a.Violations[rule]})
	}
	return out
}

// matches reports whether a condition is true.
func matches(w settings.When, a script.About, severity cardea.Severity) bool {
	return matchesName(w.Events, a.Event) && matchesName(w.Tools, a.Tool) && matchesName(w.Harnesses, a.Harness) && matchesName(w.Effects, a.Effect) &&
		severity.Rank() >= cardea.Severity(w.Severity).Rank()
}

// matchesName reports whether a pattern matches the name; no patterns match all names.
func matchesName(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return paths.MatchName(p, name) })
}
