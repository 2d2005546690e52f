package inforce

import (
	"fmt"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/rules"
)

// switchRules applies the switches of settings, the strongest scope first; a weaker scope
// cannot change an effect set by a stronger one. Switches affect rules of their own scope
// and below; those of a trusted project affect only its own. A switch without a matching
// rule is a warning: a typing error leaves a rule on that its author believes is off.
func (l *Loaded) switchRules(all rules.List) {
	left := all
	var stronger []rules.Switches
	for i := range l.SettingsFiles {
		file := &l.SettingsFiles[i]
		by := file.Switches
		if !file.Counts || len(by.Off)+len(by.Effect) == 0 {
			continue
		}
		var off rules.List
		var unused []string
		left, off, unused = by.Apply(left, stronger...)
		l.OffList = append(l.OffList, off...)
		stronger = append(stronger, by)
		if slices.Contains(by.Off, "readonly") {
			l.ReadonlyOff = true
		}
		if len(unused) > 0 {
			file.Idle = unused
			file.Problems = append(file.Problems, l.idle(file, unused, all)...)
		}
	}
	l.List = left
}

// UncountedSwitches returns warnings for switches of an untrusted project that would change
// nothing.
func (l *Loaded) UncountedSwitches() []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for i := range l.SettingsFiles {
		if file := &l.SettingsFiles[i]; file.Scope == cardea.ScopeProject && !file.Counts && len(file.Switches.Off)+len(file.Switches.Effect) > 0 {
			all := slices.Concat(l.List, l.OffList)
			_, _, unused := file.Switches.Apply(all)
			out = append(out, l.idle(file, unused, all)...)
		}
	}
	return out
}

// idle returns warnings on why switches of a file change nothing, with hints.
func (l *Loaded) idle(file *settings.File, unused []string, all rules.List) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for _, name := range unused {
		if text, hint := l.whyIdle(file, name, all); text != "" {
			out = append(out, diagnostic.Diagnostic{File: file.Path, Line: file.LineOf(name), Column: 1, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeUnknownName, Text: text, Hint: hint})
		}
	}
	return out
}

// whyIdle returns why a switch changes nothing, "" if it may concern something other than
// rules.
func (l *Loaded) whyIdle(file *settings.File, name string, all rules.List) (text, hint string) {
	var names []string
	for r := range all.Heads() {
		names = append(names, r.ID, r.Pack)
		if !file.Switches.Names(name, r) {
			continue
		}
		why, what := "it is switched or given an effect by a stronger scope", "see cardea rules list"
		switch {
		case r.Scope < file.Scope:
			why, what = fmt.Sprintf("rule %s is of the scope %s, which is stronger", r.ID, r.Scope), "only that scope can switch it"
		case file.Scope == cardea.ScopeProject && r.Scope == cardea.ScopeBuiltin:
			why, what = "a project cannot switch built-in rules", l.inOwnSettings()
		case file.Scope == cardea.ScopeProject && r.Scope != cardea.ScopeProject:
			why, what = fmt.Sprintf("rule %s is your own, and a project cannot switch it", r.ID), l.inOwnSettings()
		case r.Effect == cardea.Halt && file.Scope != r.Scope:
			why, what = fmt.Sprintf("rule %s halts", r.ID), "only its author can switch it"
		case r.Scope == cardea.ScopeBuiltin && r.Pack == rules.SelfProtection:
			why, what = "the rules of the pack "+r.Pack+" are switched one by one", "write the ids of the rules that you mean"
		}
		return fmt.Sprintf("%q has no effect: %s", name, why), what
	}
	for _, b := range builtinPolicies() {
		if b.name == name && file.Scope == cardea.ScopeProject {
			return fmt.Sprintf("%q has no effect: a project cannot switch built-in policies off", name), l.inOwnSettings()
		}
	}
	if slices.Contains(packsWithoutRules(), name) {
		return "", ""
	}
	hint = "look at cardea rules list"
	if near := document.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return fmt.Sprintf("no rule or pack is called %q", name), hint
}

// inOwnSettings returns the hint that the user can switch it in their own settings.
func (l *Loaded) inOwnSettings() string {
	return "to switch it for yourself, write it into your own settings, " + filepath.Join(l.Where.Dirs.User, "cardea.yaml")
}

// SwitchedOff returns where a rule is switched off, as "FILE:LINE"; "" if it is not.
func (l *Loaded) SwitchedOff(r *rules.Rule) string {
	for i := range l.SettingsFiles {
		file := &l.SettingsFiles[i]
		if !file.Counts {
			continue
		}
		if name, off := file.Switches.TurnsOffRule(r); off {
			return fmt.Sprintf("%s:%d", file.Path, file.LineOf(name))
		}
	}
	return ""
}

// packsWithoutRules returns packs of other kinds: a decider, generated rules, and policies.
func packsWithoutRules() []string {
	out := append([]string{"readonly"}, GeneratedPacks()...)
	return append(out, lists.Of(builtinPolicies(), func(b builtinPolicy) string { return b.name })...)
}
