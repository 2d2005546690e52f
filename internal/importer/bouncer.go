package importer

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/document"
	"cardea.dev/internal/harness"
)

// groups are Bouncer's groups of rules, which Cardea's packs are called after.
func groups() []string {
	return []string{"bash", "powershell", "builtins", "git", "secrets-exposure", "production-risk", "web"}
}

// Bouncer reads a config.json of Bouncer. The names of tools are folded into
// canonical ones; patterns that RE2 cannot run are left out and reported.
func Bouncer(file string, data []byte) Imported {
	doc, top, problems := object(file, data)
	if len(problems) > 0 {
		return Imported{Notes: problems}
	}
	b := &bouncer{ids: map[string]bool{}}
	if v := top.get("version"); v.Present() {
		v.Int(1, 1)
	}
	b.action(top.get("defaultAction"))
	b.groups(top.get("ruleGroups", "groups"))
	for _, v := range top.get("customRules").List() {
		b.rule(v)
	}
	b.judge(top.get("llmFallback", "llm", "judge"), top)
	for _, key := range []string{"logging", "audit", "auditLog"} {
		if v := top.get(key); v.Present() {
			v.Warn(cardea.CodeNotConverted, "set ledger: in cardea.yaml", "%s is not imported; Cardea keeps a ledger of its own", key)
		}
	}
	top.done()
	b.check(file, doc)
	out := Imported{Count: len(b.rules), Settings: b.settings, Notes: doc.Problems()}
	if len(b.rules) > 0 {
		out.Rules = "# Custom rules of " + oneLine(file) + ". The language: docs/rule-language.md.\nversion: 1\nrules:\n" + strings.Join(b.rules, "")
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// bouncer is one import.
type bouncer struct {
	rules    []string
	settings []string
	ids      map[string]bool
}

// action is defaultAction: what Bouncer did when it failed, and on no opinion.
func (b *bouncer) action(v document.Value) {
	if !v.Present() {
		return
	}
	switch strings.ToLower(v.Text()) {
	case "deny":
		b.settings = append(b.settings, "on_error: deny")
	case "allow":
		v.Warn(cardea.CodeNotConverted, "nothing to do", "defaultAction allow is not imported: where no rule speaks Cardea leaves the harness's own prompt in force")
	default:
		v.Problem(cardea.CodeBadValue, "use allow or deny", "%q is no action", v.Text())
	}
}

// groups reads the switches of the groups: {git: false} or {git: {enabled: false}}.
func (b *bouncer) groups(v document.Value) {
	if !v.Present() {
		return
	}
	var off []string
	m := open(v)
	for _, key := range m.keys {
		value := m.get(key)
		on := true
		if value.IsMap() {
			inner := open(value)
			if e := inner.get("enabled"); e.Present() {
				on = e.Bool()
			}
			inner.done()
		} else {
			on = value.Bool()
		}
		name := strings.ToLower(key)
		switch {
		case !slices.Contains(groups(), name):
			value.Warn(cardea.CodeUnknownName, "the groups are "+strings.Join(groups(), ", "), "there is no group %q", key)
		case on:
		case name == rules.SelfProtection:
			value.Warn(cardea.CodeNotConverted, "name its rules in rules: {off: [...]}", "the pack builtins keeps the gate shut, and is not switched off as a whole")
		default:
			off = append(off, name+": off")
		}
	}
	if len(off) > 0 {
		b.settings = append(b.settings, "packs: {"+strings.Join(off, ", ")+"}")
	}
}

// judge reports that the models that Bouncer asks are not imported.
func (b *bouncer) judge(v document.Value, top section) {
	for _, at := range []document.Value{v, top.get("providerChain", "providers")} {
		if at.Present() {
			at.Report(cardea.LevelWarning, cardea.CodeNotConverted, "nothing to do", "%s is not imported: this version asks no model", at.Name())
		}
	}
}

// check reads what was written as the gate will. A rule that it would not take
// is a mistake of the import, and nothing is given then.
func (b *bouncer) check(file string, doc *document.Reader) {
	text := "version: 1\nrules:\n" + strings.Join(b.rules, "")
	if len(b.rules) == 0 {
		return
	}
	list, problems := rules.Parse("imported-bouncer.yaml", []byte(text), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	if len(list) != len(b.rules) || cardea.HasError(problems) {
		doc.Top().Problem(cardea.CodeNotConverted, "write the rules by hand", "%s cannot be taken over: %v", file, problems)
		b.rules = nil
	}
}
