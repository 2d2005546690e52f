package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/engine"
)

// builtinName returns the builtin to which a policy file belongs, by its path. Cupcake
// loads the file if rulebook.yml switches that builtin on.
func builtinName(rel string) (name string, is bool) {
	return strings.TrimSuffix(path.Base(rel), ".rego"), path.Base(path.Dir(rel)) == "builtins"
}

// builtin reports whether it left out the policy of a builtin, which rules and settings
// replace. A policy that a person wrote is copied.
func (m *move) builtin(file, name, text string, facts *engine.Facts) bool {
	verbs, _ := importer.BuiltinVerbs(name)
	switch other := foreignBuiltin(name, text, facts); {
	case m.isOff(name):
		m.leave(file, false, "Cupcake does not load it, since rulebook.yml does not switch builtins."+name+" on")
	case verbs == nil && len(facts.Verbs) == 0:
		return false // a library
	case verbs == nil && m.builtins[name]:
		m.own = append(m.own, name)
		return false
	case verbs == nil:
		m.leave(file, true, "Cupcake loads it where rulebook.yml has builtins: {"+name+": {enabled: true}}, which it has not; write that, or move the file out of builtins, and import again")
	case other != "":
		m.leave(file, true, "what is said about builtins."+name+" takes the place of Cupcake's own file of this name, but this one is different: "+other+
			". Move what you wrote into a file outside of builtins, and import again")
	default:
		m.leave(file, false, "it is one of Cupcake's own, as far as can be seen: what is said about builtins."+name+" takes its place, without what you may have changed in it")
	}
	return true
}

// isOff reports whether rulebook.yml does not switch on a builtin that it names or that
// Cupcake brings.
func (m *move) isOff(name string) bool {
	on, named := m.builtins[name]
	verbs, _ := importer.BuiltinVerbs(name)
	return !on && (named || verbs != nil)
}

// foreignBuiltin returns why a file cannot be Cupcake's own file for a builtin, or "".
// There is no list of Cupcake's files of all versions. Each has the package, event and
// verbs of its builtin, and ids with the same prefix.
func foreignBuiltin(name, text string, facts *engine.Facts) string {
	verbs, event := importer.BuiltinVerbs(name)
	for _, v := range facts.Verbs {
		if !slices.Contains(verbs, v) {
			return "it says " + v
		}
	}
	if len(facts.Verbs) == 0 && verbs != nil {
		return "" // it decides nothing
	}
	if !strings.HasSuffix(facts.Package, "policies.builtins."+name) {
		return "its package is " + facts.Package
	}
	for _, e := range facts.Events { // other harnesses have other event names
		if e != event && (e == "*" || slices.Contains(policy.EventNames(), e)) {
			return "it is routed to " + e
		}
	}
	for _, id := range decisions(text, facts).ids {
		if !strings.HasPrefix(strings.TrimPrefix(id, "GLOBAL-"), "BUILTIN-") {
			return "it decides " + id
		}
	}
	return ""
}

// decided holds the verbs of policies, and the ids of their rules that are literals.
type decided struct{ verbs, ids []string }

func (d decided) and(o decided) decided {
	return decided{append(slices.Clip(d.verbs), o.verbs...), append(slices.Clip(d.ids), o.ids...)}
}

func decisions(text string, facts *engine.Facts) decided {
	d := decided{verbs: facts.Verbs}
	for _, m := range regexp.MustCompile(`"rule_id"\s*:\s*"([^"]*)"`).FindAllStringSubmatch(text, -1) {
		d.ids = append(d.ids, m[1])
	}
	return d
}

// otherHarness leaves out the policies for another harness. They protect if no policy for
// Claude Code makes the same decision.
func (m *move) otherHarness(folder string) error {
	harness := filepath.Base(folder)
	if _, err := os.Stat(filepath.Join(m.from, "policies", "claude")); err != nil {
		m.leave(folder, true, "they are written for what "+harness+" sends, and there is no folder policies/claude; copy them there, with Claude Code's events, tools and fields, and import again")
		return nil
	}
	m.leave(folder, false, "policies are written once here, for every harness; those of the claude folder count")
	return filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read policies: %w", err)
		}
		if d.IsDir() || !strings.HasSuffix(file, ".rego") {
			return nil
		}
		text, facts, ok, err := m.parse(file)
		if !ok || !facts.Policy() || len(facts.Events) == 0 {
			return err
		}
		if name, is := builtinName(filepath.ToSlash(file)); is && (m.isOff(name) || foreignBuiltin(name, text, &facts) == "") {
			return nil
		}
		if more := m.decides[facts.Package].lacks(decisions(text, &facts)); len(more) > 0 {
			protects := slices.ContainsFunc(facts.Verbs, func(v string) bool { return v != "add_context" && v != "allow_override" })
			m.leave(file, protects, "no policy of the claude folder in the package "+facts.Package+" decides this ("+strings.Join(more, ", ")+"); copy it there, with Claude Code's events, tools and fields, and import again")
		}
		return nil
	})
}

// lacks returns the decisions of o that d does not have.
func (d decided) lacks(o decided) (more []string) {
	for _, v := range o.verbs {
		if !slices.Contains(d.verbs, v) {
			more = append(more, v)
		}
	}
	for _, id := range o.ids {
		if !slices.Contains(d.ids, id) && !slices.Contains(more, id) {
			more = append(more, id)
		}
	}
	return more
}
