package inforce

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/config/signals"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/packs"
)

// builtinPolicy is a policy that comes with Cardea. Settings and verdicts use its name; its
// package has _ for -.
type builtinPolicy struct {
	name string
	// setting is the key of the settings that supplies its data, signal the name of the signal
	// that does.
	setting, signal string
}

func builtinPolicies() []builtinPolicy {
	return []builtinPolicy{
		{"edit-validators", "", "validate"},
		{"full-reads", "", ""},
		{"git-checks", "policies.checks", signals.Checks},
	}
}

// module returns the last word of the policy's package, which is also the name of its file.
func (b builtinPolicy) module() string { return strings.ReplaceAll(b.name, "-", "_") }

// builtins returns the folder of the built-in policies that are on, and whether there are
// any.
func (l *Loaded) builtins() (policy.Folder, bool) {
	f := policy.Folder{Dir: "builtin", Scope: cardea.ScopeBuiltin, Embedded: map[string]string{}}
	for _, b := range builtinPolicies() {
		if l.policyOn(b) {
			f.Embedded["packs/policies/"+b.module()+".rego"] = packs.Policy(b.module())
		}
	}
	return f, len(f.Embedded) > 0
}

// policyOn reports whether a built-in policy is on: it has data, or is switched on by name.
// The strongest scope that configures it decides. A project cannot switch a policy off,
// since it may only restrict.
func (l *Loaded) policyOn(b builtinPolicy) bool {
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if !f.Counts {
			continue
		}
		if f.Scope != cardea.ScopeProject && f.Switches.TurnsOff(b.name) {
			return false
		}
		g, switched := f.Gives("packs." + b.name)
		if _, given := f.Gives(b.setting); switched && g.Value == "on" || given {
			return true
		}
	}
	return b.signal != "" && l.HasSignal(policy.Folder{Scope: cardea.ScopeBuiltin}, b.signal)
}

// PolicySwitch is a built-in policy and whether it is on.
type PolicySwitch struct {
	Name string
	On   bool
}

// PolicySwitches returns the built-in policies by name.
func (l *Loaded) PolicySwitches() []PolicySwitch {
	return lists.Of(builtinPolicies(), func(b builtinPolicy) PolicySwitch { return PolicySwitch{b.name, l.policyOn(b)} })
}
