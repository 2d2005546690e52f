package inforce

import (
	"fmt"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
)

// This file turns settings into rules. The rules have the scope of the settings file, and
// are switched off by their pack's name like other rules.

// The packs of the rules for policies.protected, policies.context and sensitive.*.
const (
	protectedPaths = "protected-paths"
	promptContext  = "prompt-context"
	sensitivePaths = "sensitive-paths"
)

// GeneratedPacks returns the packs of rules that settings generate.
func GeneratedPacks() []string { return []string{protectedPaths, promptContext, sensitivePaths} }

// generatedRules returns the rules that the settings of a folder generate. Like its own
// rules, those of an untrusted project only restrict, so its sensitive paths also apply. An
// organisation's protected paths apply everywhere.
func (l *Loaded) generatedRules(at folder) []rules.Rule {
	var out []rules.Rule
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if f.Path != filepath.Join(at.dir, "cardea.yaml") || !f.Found {
			continue
		}
		from := func(key, id, pack string) rules.Rule {
			given, _ := f.Gives(key)
			return rules.Rule{ID: id, Pack: pack, Scope: at.scope, Trusted: f.Counts, Source: fmt.Sprintf("%s:%d", f.Path, given.Line)}
		}
		home, v := l.Where.Dirs.Home, &f.Values
		if f.Counts || at.tightens {
			out = append(out, rules.Protect(v.Policies.Protected, from("policies.protected", protectedPaths, protectedPaths), home)...)
		}
		if f.Counts {
			for _, text := range v.Policies.Context {
				r := from("policies.context", promptContext, promptContext)
				r.Events, r.Effect, r.Context = []string{"UserPromptSubmit"}, cardea.Abstain, text
				out = append(out, r)
			}
		}
		sensitive := map[string][]string{"sensitive.deny_read": v.Sensitive.DenyRead, "sensitive.ask_read": v.Sensitive.AskRead, "sensitive.ask_write": v.Sensitive.AskWrite}
		for _, s := range rules.SensitiveSettings() {
			like := from(s.Key, strings.NewReplacer(".", "-", "_", "-").Replace(s.Key), sensitivePaths)
			out = append(out, s.Rules(sensitive[s.Key], like, home)...)
		}
	}
	return out
}

// exempted returns the rules without the built-in sensitive paths that the settings of
// system, organisation and user exempt.
func (l *Loaded) exempted(all rules.List) rules.List {
	var globs []string
	for i := range l.SettingsFiles {
		if f := &l.SettingsFiles[i]; f.Counts && f.Scope != cardea.ScopeProject {
			globs = append(globs, f.Values.Sensitive.Exempt...)
		}
	}
	return rules.Exempt(all, globs)
}
