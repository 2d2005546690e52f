package table

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/packs/cases"
)

// Pages returns the pages of documentation, by file name: one for each pack, with an entry
// for each rule, and an overview.
func Pages(dir string) (map[string]string, error) {
	list, err := Read(dir)
	if err != nil {
		return nil, err
	}
	byPack := map[string][]rules.Rule{}
	for _, r := range list {
		byPack[r.Pack] = append(byPack[r.Pack], r)
	}
	policies, err := cases.Read(filepath.Join(dir, "policies"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{"README.md": overview(byPack, policies)}
	for pack, rs := range byPack {
		out[pack+".md"] = page(pack, rs)
	}
	return out, nil
}

const made = "<!-- Made from packs/*.yaml by go generate ./packs -->\n"

// overview returns the page with the list of packs.
func overview(byPack map[string][]rules.Rule, policies []cases.Policy) string {
	var b strings.Builder
	b.WriteString("# Packs\n\n" + made + "\nRules that are there without any settings. Each pack and each rule can be switched off, " +
		"or given another effect, by id; the rules of the pack builtins by id only.\n\n" +
		"```yaml\n# cardea.yaml\npacks: {web: off}\nrules:\n  off: [git-stash-drop]\n  effect: {git-clean: deny}\n```\n\n" +
		"| pack | rules | halt or deny | ask |\n|---|---|---|---|\n")
	var packs []string
	for p := range byPack {
		packs = append(packs, p)
	}
	sort.Strings(packs)
	for _, p := range packs {
		deny, ask := 0, 0
		for _, r := range byPack[p] {
			switch {
			case r.Effect >= cardea.Deny:
				deny++
			case r.Effect == cardea.Ask:
				ask++
			}
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %d | %d | %d |\n", p, p, len(byPack[p]), deny, ask)
	}
	b.WriteString("\n## Other packs\n\nThey are switched by their names, too, as in `packs: {readonly: off}`. Most of them begin with a setting.\n\n" +
		"| pack | what | on |\n|---|---|---|\n| [readonly](../readonly.md) | What certainly only reads is allowed | always |\n" +
		"| [sensitive-paths](../settings.md#sensitive-paths) | Paths of the lists of `sensitive` are not read, or only after a question | where settings say so |\n")
	for _, p := range policies {
		on := "where settings say so"
		switch {
		case p.Settings == "":
			continue // its rules are in the packs above
		case strings.HasPrefix(p.Settings, "packs:"):
			on = code(strings.TrimSpace(p.Settings))
		}
		fmt.Fprintf(&b, "| [%s](../policies/%s.md) | %s | %s |\n", p.Name, p.Name, p.Title, on)
	}
	return b.String()
}

func page(pack string, list []rules.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The pack %s\n\n%s\n| rule | effect | severity | what |\n|---|---|---|---|\n", pack, made)
	for _, r := range list {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, r.ID, r.Effect, r.Severity, cell(r.Message))
	}
	for _, r := range list {
		entry(&b, r)
	}
	return b.String()
}

// entry writes the section of a rule.
func entry(b *strings.Builder, r rules.Rule) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", r.ID, r.Message)
	what := r.Effect.String()
	if r.Person {
		what += " (deny when unattended)"
	}
	tools := "every tool"
	if len(r.Tools) > 0 {
		tools = strings.Join(r.Tools, ", ")
	}
	fmt.Fprintf(b, "- effect: %s\n- severity: %s\n- tools: %s\n- because: %s\n", what, r.Severity, tools, r.Because)
	if r.Instead != "" {
		fmt.Fprintf(b, "- instead: `%s`\n", r.Instead)
	}
	b.WriteString("\n| example | outcome |\n|---|---|\n")
	for _, t := range r.Tests {
		outcome := t.Expect
		if outcome == "none" {
			outcome = "nothing to say"
		}
		fmt.Fprintf(b, "| %s | %s |\n", cell(example(t)), outcome)
	}
}

// example returns a test's call: the command, or the tool and its input.
func example(t rules.Test) string {
	var input map[string]any
	if json.Unmarshal([]byte(t.Input), &input) == nil {
		if c, ok := input["command"].(string); ok && t.Tool == "Bash" {
			return code(c)
		}
	}
	return t.Tool + " " + code(t.Input)
}

// code returns text in code style, with invisible characters spelled out.
func code(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(" ⏎ ")
		case r < ' ' || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	text, fence := b.String(), "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}

// cell escapes text for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
