package importer

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
)

// keep holds rules that deny what Bouncer's groups deny, one file per group. Bouncer denies
// their examples that expect "deny"; "block" marks other spellings.
//
//go:embed keep
var keep embed.FS

// rulesText is the first line of rule files that are written.
const rulesText = "# What Bouncer's rules deny. The language: docs/rule-language.md.\n"

// Groups returns Bouncer's groups of rules. Cardea's packs have the same names.
func Groups() []string {
	return []string{"bash", "powershell", "builtins", "git", "secrets-exposure", "production-risk", "web"}
}

// BouncerOptions are options for importing Bouncer's configuration.
type BouncerOptions struct {
	// KeepDenials adds rules that deny what Bouncer's groups deny.
	KeepDenials bool
	// DefaultAllow imports a defaultAction that allows.
	DefaultAllow bool
	// Name is part of the name of the rule file, and the prefix of rule ids. It must differ
	// for each source; "" means "bouncer".
	Name string
	// TooWide returns why an allow rule must not be written, "" if it may. rule is the text of
	// an entry of the list. If TooWide is nil, all are written.
	TooWide func(rule string) string
}

// Bouncer imports a config.json of Bouncer. Tool names become canonical ones; patterns are
// rewritten without lookaround.
func Bouncer(file string, data []byte, o BouncerOptions) Imported {
	doc, top, problems := object(file, data)
	if len(problems) > 0 {
		return Imported{Problems: problems}
	}
	o.Name = cmp.Or(o.Name, "bouncer")
	b := &bouncer{table: table{file: file}, ids: map[string]bool{}, options: o}
	if v := top.get("version"); v.Present() {
		v.Int(1, 1)
	}
	b.groups(top.get("ruleGroups", "groups"))
	for i, v := range top.get("customRules").List() {
		b.rule(i, v)
	}
	b.action(top.get("defaultAction"))
	b.judge(top)
	b.logging(top.get("logging", "audit", "auditLog"))
	top.done()
	b.denials()
	out := Imported{Settings: b.settings, Calls: b.calls, Files: b.files}
	out.Problems = b.remarks(doc.Problems())
	out.Table = b.rows
	if len(b.rules) > 0 {
		custom := rulesFile("rules/imported-"+b.options.Name+".yaml", rulesText, b.rules)
		out.Files = append(out.Files, custom)
		out.Problems = append(out.Problems, unreadable(custom, len(b.rules))...)
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// bouncer is the state of one import.
type bouncer struct {
	table
	rules    []string
	files    []File
	customs  []*custom
	settings []Setting
	calls    []TrialCall
	ids      map[string]bool
	// off holds the disabled groups.
	off []string
	// fallback is defaultAction in lower case.
	fallback string
	options  BouncerOptions
}

// action imports defaultAction: Bouncer's answer if no rule matches, or if it fails.
func (b *bouncer) action(v document.Value) {
	const what = "defaultAction"
	set := func(action string) {
		for _, key := range []string{"unattended", "attended"} {
			b.settings = append(b.settings, Setting{Path: []string{"default", key}, Value: action, Protects: action != "allow"})
		}
	}
	b.fallback = strings.ToLower(v.Text())
	switch word := b.fallback; {
	case word == "deny":
		set("deny")
		b.settings = append(b.settings, Setting{Path: []string{"on_error"}, Value: "deny", Protects: true})
		reads := "Cardea allows what certainly only reads, so write rules that allow the rest"
		if b.options.KeepDenials {
			b.settings = append(b.settings, Setting{Path: []string{"packs", "readonly"}, Value: "off", Protects: true})
			reads = "Cardea allows nothing by itself then (packs: {readonly: off}), so write rules that allow what is needed"
		}
		b.changed(v, what, "default: deny, where no rule speaks, and on_error: deny, where the gate fails. Bouncer's groups allow reading and writing of text files and every address; %s", reads)
	case word == "ask":
		set("ask")
		b.settings = append(b.settings, Setting{Path: []string{"on_error"}, Value: "deny", Protects: true})
		b.taken(v, what, "default: ask, where no rule speaks, and on_error: deny")
	case word == "allow" && b.options.DefaultAllow:
		set("allow")
		b.changed(v, what, "default: allow, where no rule speaks. It does not hold for what cannot be seen through or what a guard has doubts about, nor where the gate fails: there the agent's own prompt stays (on_error: defer)")
	case word == "allow" || !v.Present():
		b.changed(v, what, "Bouncer allows what no rule matches and where it fails, which switches the agent's own prompt off. Cardea leaves that prompt in force in both cases; --default-allow takes over the first")
	case slices.Contains([]string{"log", "log-only", "logonly", "audit", "warn"}, word):
		b.changed(v, what, "%q is no action of Bouncer's. Cardea writes every verdict into its ledger, and leaves what no rule matches to the agent's own prompt", v.Text())
	default:
		v.Problem(diagnostic.CodeBadValue, "use allow, ask or deny", "%q is no action", v.Text())
	}
}

// groups imports the switches of the groups: {git: false} or {git: {enabled: false}}.
func (b *bouncer) groups(v document.Value) {
	switched := map[string]bool{}
	m := open(v)
	for _, key := range m.keys {
		value := m.get(key)
		what := "ruleGroups." + key
		on := true
		if value.IsMap() {
			inner := open(value)
			on = inner.enabled()
			if a := inner.get("action"); a.Present() {
				b.left(a, what+".action", "Bouncer does not read it any more")
			}
			inner.done()
		} else if value.Present() {
			on = value.Bool()
		}
		name := strings.ToLower(key)
		switched[name] = true
		switch {
		case !slices.Contains(Groups(), name):
			b.left(value, what, "there is no group of this name, in Bouncer neither")
		case on:
			b.group(value, name)
		case name == rules.SelfProtection:
			b.off = append(b.off, name)
			b.changed(value, what, "the pack builtins keeps the gate shut and stays on; rules: {off: [...]} switches single rules off")
		default:
			b.off = append(b.off, name)
			b.settings = append(b.settings, Setting{Path: []string{"packs", name}, Value: "off"})
			b.taken(value, what, "packs: {%s: off}", name)
		}
	}
	for _, name := range Groups() {
		if !switched[name] {
			b.group(nil, name)
		}
	}
}

// group imports an enabled group.
func (b *bouncer) group(at located, name string) {
	stored := ""
	if b.options.KeepDenials {
		stored = ", and rules of its own deny what Bouncer's group denies"
	}
	switch name {
	case "builtins":
		b.changed(at, "ruleGroups.builtins", "Bouncer allows reading and writing of text files; Cardea leaves them to the agent's own prompt, and the pack builtins guards the gate's own files%s", stored)
	case "web":
		b.changed(at, "ruleGroups.web", "Bouncer allows every address; Cardea leaves them to the agent's own prompt, and the pack web denies some%s", stored)
	default:
		b.taken(at, "ruleGroups."+name, "the pack %s is on (docs/packs/%s.md)%s", name, name, stored)
	}
}

// logging imports Bouncer's log settings; Cardea has the ledger instead.
func (b *bouncer) logging(v document.Value) {
	if !v.Present() {
		return
	}
	how := "Cardea's ledger has every verdict; ledger.dir and ledger.levels in your settings move it or make it smaller (docs/ledger.md)"
	if file := open(open(v).get("File")).get("Path"); file.Text() != "" {
		how += fmt.Sprintf("; the ledger has a folder where Bouncer had the file %s", file.Text())
	}
	b.changed(v, "Logging", "%s", how)
}

// denials imports what the groups deny: their rules, with KeepDenials, and calls that show
// Bouncer's answers.
func (b *bouncer) denials() {
	for _, group := range Groups() {
		text, _ := keep.ReadFile("keep/bouncer/" + group + ".yaml") // each group has one
		on := !slices.Contains(b.off, group)
		if b.options.KeepDenials && (on || b.fallback == "deny") {
			b.files = append(b.files, File{Path: "rules/bouncer-" + group + ".yaml", Text: rulesText + string(text), Sealed: true, Protects: true})
		}
		list, _ := rules.Parse(group, text, rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
		for i := range list {
			for _, t := range list[i].Tests {
				if t.Expect == "deny" {
					shown := strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">")
					c := TrialCall{Tool: cmp.Or(t.Tool, append(list[i].Tools, "Bash")[0]), Input: shown.Replace(t.Input), Said: "deny", Group: "ruleGroups." + group}
					b.call(c, on)
				}
			}
		}
	}
	for _, ordinary := range [][2]string{{"ls", "bash"}, {"git status", "git"}, {"grep -r TODO src"}, {"git show"}, {"npm test"}} {
		command, group := ordinary[0], ordinary[1]
		b.call(CommandCall(command, "allow"), group != "" && !slices.Contains(b.off, group))
	}
}

// call adds a call with Bouncer's answer. Bouncer applies its groups first, then the custom
// rules in order, then defaultAction. decided is set if a group decides.
func (b *bouncer) call(c TrialCall, decided bool) {
	var input map[string]string
	_ = json.Unmarshal([]byte(c.Input), &input) // an example of this package, always valid
	c.About = input[fields([]string{c.Tool})[0]]
	if !decided {
		c.Said, c.Group = "allow", "defaultAction"
		if b.fallback == "deny" || b.fallback == "ask" {
			c.Said = b.fallback
		}
		if first := b.first(c.Tool, c.About); first != nil {
			c.Said, c.Group = first.action, first.what
		}
	}
	b.calls = append(b.calls, c)
}

// first returns the custom rule that decides about a text, nil if none exists.
func (b *bouncer) first(tool, text string) *custom {
	for _, c := range b.customs {
		if re, err := regexp.Compile("(?i)" + c.pattern); err == nil && (len(c.tools) == 0 || slices.Contains(c.tools, tool)) && re.MatchString(text) {
			return c
		}
	}
	return nil
}

// unreadable reports written rules that the gate would reject, which is a bug of the
// import.
func unreadable(f File, count int) []diagnostic.Diagnostic {
	list, problems := rules.Parse(f.Path, []byte(f.Text), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	if len(list) == count && !diagnostic.HasError(problems) {
		return nil
	}
	return append(problems, diagnostic.Diagnostic{File: f.Path, Code: diagnostic.CodeNotConverted, Text: "the rules cannot be taken over", Hint: "write them by hand"})
}
