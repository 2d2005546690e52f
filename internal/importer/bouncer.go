package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/document"
	"cardea.dev/internal/harness"
)

// Groups are Bouncer's groups of rules, which Cardea's packs are called after.
func Groups() []string {
	return []string{"bash", "powershell", "builtins", "git", "secrets-exposure", "production-risk", "web"}
}

// BouncerOptions are what the import of Bouncer's configuration depends on.
type BouncerOptions struct {
	// DefaultAllow takes over a defaultAction that allows.
	DefaultAllow bool
	// Name is part of the name of the file of rules, and begins the ids of rules. It is
	// another one for each source; "" is "bouncer".
	Name string
	// TooWide says why a rule that allows must not be written, "" where it may. The
	// rule is the text of an entry of the list. Nil takes all.
	TooWide func(rule string) string
}

// Bouncer reads a config.json of Bouncer. The names of tools are folded into
// canonical ones; patterns are written without lookaround.
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
	out := Imported{Settings: b.settings, Calls: append(b.calls, b.documented()...)}
	out.Problems = b.remarks(doc.Problems())
	out.Table = b.rows
	if len(b.rules) > 0 {
		out.Files = []File{rulesFile("rules/imported-"+b.options.Name+".yaml", "# Custom rules of Bouncer. The language: docs/rule-language.md.\n", b.rules)}
		out.Problems = append(out.Problems, unreadable(out.Files[0], len(b.rules))...)
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// bouncer is one import.
type bouncer struct {
	table
	rules    []string
	settings []Setting
	calls    []Call
	ids      map[string]bool
	// off are the groups that are switched off.
	off []string
	// fallback is defaultAction, in lower case.
	fallback string
	options  BouncerOptions
}

// action is defaultAction: what Bouncer answers to a call that no rule matches,
// and where it fails.
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
		b.changed(v, what, "default: deny, where no rule speaks, and on_error: deny, where the gate fails. Bouncer's groups allow reading and writing of text files and every address; "+
			"Cardea allows what certainly only reads, so write rules that allow the rest")
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
		v.Problem(cardea.CodeBadValue, "use allow, ask or deny", "%q is no action", v.Text())
	}
}

// groups reads the switches of the groups: {git: false} or {git: {enabled: false}}.
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

// group is a group that is on.
func (b *bouncer) group(at place, name string) {
	switch name {
	case "builtins":
		b.changed(at, "ruleGroups.builtins", "Bouncer allows reading and writing of text files; Cardea leaves them to the agent's own prompt, and the pack builtins guards the gate's own files")
	case "web":
		b.changed(at, "ruleGroups.web", "Bouncer allows every address; Cardea leaves them to the agent's own prompt, and the pack web denies some")
	default:
		b.taken(at, "ruleGroups."+name, "the pack %s is on (docs/packs/%s.md)", name, name)
	}
}

// logging is Bouncer's log, in the place of which there is the ledger.
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

// documented are calls that Bouncer's documentation gives an answer to, for the
// groups that are on.
func (b *bouncer) documented() []Call {
	var out []Call
	add := func(group, tool, field, said string, values ...string) {
		for _, value := range values {
			if !slices.Contains(b.off, group) {
				c := call(tool, field, value, said)
				c.Group, c.About = "ruleGroups."+group, value
				if path.Ext(value) == ".key" {
					c.Keep = &Setting{Path: []string{"sensitive", "deny_read"}, Items: []string{"'*.key'"}, Protects: true}
				}
				out = append(out, c)
			}
		}
	}
	add("bash", "Bash", "command", "deny", "rm -rf /", "mkfs.ext4 /dev/sda1", "dd if=/dev/zero of=/dev/sda", "chmod 777 x", ":(){ :|:& };:")
	add("bash", "Bash", "command", "allow", "ls", "git status")
	add("powershell", "PowerShell", "command", "deny", `Remove-Item -Recurse -Force C:\`, "Format-Volume -DriveLetter D")
	add("git", "Bash", "command", "deny", "git push --force", "git reset --hard", "git clean -fd")
	add("secrets-exposure", "Bash", "command", "deny", "cat .env", "cat server.key", "cat ~/.ssh/id_rsa")
	add("secrets-exposure", "Write", "file_path", "deny", ".env")
	add("production-risk", "Bash", "command", "deny", "kubectl delete pod x --namespace prod", "psql -c 'DROP TABLE users'")
	add("web", "WebFetch", "url", "deny", "https://pastebin.com/raw/x")
	return out
}

// unreadable reports rules that the gate would not take, which is a mistake of the
// import.
func unreadable(f File, count int) []cardea.Diagnostic {
	list, problems := rules.Parse(f.Path, []byte(f.Text), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	if len(list) == count && !cardea.HasError(problems) {
		return nil
	}
	return append(problems, cardea.Diagnostic{File: f.Path, Code: cardea.CodeNotConverted, Text: "the rules cannot be taken over", Hint: "write them by hand"})
}
