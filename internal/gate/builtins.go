package gate

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/evidence"
	"cardea.dev/internal/knowledge"
	knowledgeform "cardea.dev/internal/knowledge/form"
	"cardea.dev/internal/paths"
	"cardea.dev/packs"
)

// builtinPolicy is a policy that comes with Cardea. Its name is the one by which
// settings switch it and verdicts name it; the package has _ for -.
type builtinPolicy struct {
	name string
	// setting is the key of the settings that gives it what it speaks about,
	// signal the name of the signal that does.
	setting, signal string
}

func builtinPolicies() []builtinPolicy {
	return []builtinPolicy{
		{"edit-validators", "", "validate"},
		{"full-reads", "", ""},
		{"git-checks", "policies.checks", checksSignal},
	}
}

// module is the last word of the policy's package, and the name of its file.
func (b builtinPolicy) module() string { return strings.ReplaceAll(b.name, "-", "_") }

// builtins are the built-in policies that are on.
func (l *Loaded) builtins() (policy.Folder, bool) {
	f := policy.Folder{Dir: "builtin", Scope: cardea.ScopeBuiltin, Embedded: map[string]string{}}
	for _, b := range builtinPolicies() {
		if l.policyOn(b) {
			f.Embedded["packs/policies/"+b.module()+".rego"] = packs.Policy(b.module())
		}
	}
	return f, len(f.Embedded) > 0
}

// policyOn reports whether a built-in policy is on: it was given what it speaks
// about, or switched on by name. The strongest scope that says something decides;
// a project may switch none off, since it may only tighten.
func (l *Loaded) policyOn(b builtinPolicy) bool {
	for i := range l.SettingsFiles {
		f := &l.SettingsFiles[i]
		if !f.Counts {
			continue
		}
		if f.Scope != cardea.ScopeProject && f.Switches.TurnsOff(b.name) {
			return false
		}
		g, said := f.Gives("packs." + b.name)
		_, given := f.Gives(b.setting)
		if said && g.Value == "on" || given {
			return true
		}
	}
	return b.signal != "" && l.HasSignal(cardea.ScopeBuiltin, b.signal)
}

// PolicySwitch is a built-in policy, and whether it is on.
type PolicySwitch struct {
	Name string
	On   bool
}

// PolicySwitches are the built-in policies by name.
func (l *Loaded) PolicySwitches() []PolicySwitch {
	var out []PolicySwitch
	for _, b := range builtinPolicies() {
		out = append(out, PolicySwitch{b.name, l.policyOn(b)})
	}
	return out
}

// The signals of built-in policies that are not simply a script: which checks
// succeeded since the last change; how large the file is that is read; and the
// person's or project's own script, which is run for what publishes alone, since
// it may take as long as tests do.
const (
	evidenceSignal = "evidence"
	sizeSignal     = "size"
	checksSignal   = "git_checks"
)

// own is what the gate itself tells built-in policies. It reports false where a
// script does, and gives no value where nobody says anything.
func (s *signals) own(ev *cardea.Event, name string) (policy.Answer, bool) {
	switch name {
	case evidenceSignal:
		return policy.Answer{Value: s.evidence(ev)}, true
	case sizeSignal:
		return policy.Answer{Value: size(ev)}, true
	case checksSignal:
		return policy.Answer{}, !publishes(ev)
	}
	return policy.Answer{}, false
}

// publishes reports whether a call commits, pushes or merges.
func publishes(ev *cardea.Event) bool {
	return ev.Call != nil && slices.ContainsFunc(ev.Call.Parts, func(p cardea.Part) bool { return publishing(&p) })
}

// publishing reports whether a part does.
func publishing(p *cardea.Part) bool {
	if len(p.Command) < 2 {
		return false
	}
	subcommands, _ := knowledge.WordsOf(knowledgeform.Publishes, p.Command[0])
	return slices.Contains(subcommands, p.Command[1])
}

// evidence is what the policy git_checks is told: the checks that succeeded, what
// the call does besides publishing, and the parts of which it is not known whether
// they publish.
func (s *signals) evidence(ev *cardea.Event) any {
	store := evidence.New(s.loaded.Where.State, paths.Real(s.loaded.Where.Project), paths.Real(s.loaded.Where.Start))
	out, unknown := evidence.Publish{}, []any{}
	if ev.Call != nil {
		out = store.Look(ev.Call, func(p *cardea.Part) bool { return publishing(p) || mayPublish(p) })
		for i := range ev.Call.Parts {
			if mayPublish(&ev.Call.Parts[i]) {
				unknown = append(unknown, i)
			}
		}
	}
	return map[string]any{"ok": true, "passed": anys(store.Passed()), "writes": out.Writes, "elsewhere": out.Elsewhere, "unknown": unknown}
}

// mayPublish reports whether a part is git with a command that is only known when
// it runs.
func mayPublish(p *cardea.Part) bool {
	return len(p.Command) > 0 && knowledge.Has(knowledgeform.Publishes, p.Command[0]) && slices.ContainsFunc(p.Operands, func(at int) bool {
		return at < len(p.Argv) && !p.Argv[at].Static && !slices.ContainsFunc(p.Argv[1:at], func(w cardea.Word) bool { return len(p.Command) > 1 && w.Text == p.Command[1] })
	})
}

// maxSized is how much of a file is looked at to count its lines, in bytes.
const maxSized = 256 << 10

// size is how many lines and bytes the file has that a call reads, as far as it
// was looked at.
func size(ev *cardea.Event) any {
	unknown := map[string]any{"ok": false, "error": "the file cannot be read", "timed_out": false}
	if ev.Call == nil {
		return unknown
	}
	path, _ := ev.Call.Input["file_path"].(string)
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(ev.Cwd, path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return unknown
	}
	f, err := os.Open(path)
	if err != nil {
		return unknown
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSized))
	if err != nil {
		return unknown
	}
	lines := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		lines++
	}
	return map[string]any{"ok": true, "lines": lines, "bytes": info.Size()}
}
