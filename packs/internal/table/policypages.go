package table

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"cardea.dev/packs/cases"
)

const madeOfCases = "<!-- Made from packs/policies/*.yaml by go generate ./packs -->\n"

// PolicyPages returns the pages of the built-in policies, by file name, and an overview.
func PolicyPages(dir string) (map[string]string, error) {
	all, err := cases.Read(filepath.Join(dir, "policies"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{"README.md": policyOverview(all)}
	for _, p := range all {
		out[p.Name+".md"] = policyPage(&p)
	}
	return out, nil
}

// policyOverview returns the page with the list of policies.
func policyOverview(all []cases.Policy) string {
	var b strings.Builder
	b.WriteString("# Built-in policies\n\n" + madeOfCases + "\nWhat they say is tested with the messages of every harness: each example of these pages is put into all of them, " +
		"and the answer is read as the harness reads it. How to write your own: [policies](../policies.md).\n\n| policy | what | written as | on |\n|---|---|---|---|\n")
	for _, p := range all {
		as, on := "Rego", "where settings say so"
		if len(p.Rules) > 0 {
			as = "rules"
		}
		if len(p.Rules) > 0 && p.Settings == "" {
			on = "always"
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", p.Name, p.Name, p.Title, as, on)
	}
	return b.String()
}

// policyPage returns the page of a policy.
func policyPage(p *cases.Policy) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n%s\n\n%s\n", p.Name, madeOfCases, p.Title+".", strings.TrimSpace(p.About))
	if p.Settings != "" {
		fmt.Fprintf(&b, "\n```yaml\n# cardea.yaml\n%s\n```\n", strings.TrimSpace(p.Settings))
	}
	if p.Signal != "" {
		fmt.Fprintf(&b, "\nOr\n\n```yaml\n# cardea.yaml\n%s\n```\n", strings.TrimSpace(p.Signal))
	}
	if len(p.Rules) > 0 {
		fmt.Fprintf(&b, "\nThe rules: `%s`. Each can be switched off, or given another effect, by its id: `rules: {off: [%s]}`.\n", strings.Join(p.Rules, "`, `"), p.Rules[0])
	} else {
		file := strings.ReplaceAll(p.Name, "-", "_")
		fmt.Fprintf(&b, "\nSwitched off by `packs: {%s: off}` in the scope that gave it what it speaks about, or a stronger one. "+
			"Its text is [packs/policies/%s.rego](../../packs/policies/%s.rego), with [tests](../../packs/policies/%s_test.rego).\n", p.Name, file, file, file)
	}
	b.WriteString("\n| example | outcome |\n|---|---|\n")
	for _, c := range p.Cases {
		fmt.Fprintf(&b, "| %s | %s |\n", cell(caseText(&c)), outcomes[c.Expect])
	}
	return b.String()
}

// outcomes are the words for the expected outcomes.
var outcomes = map[string]string{"deny": "deny", "ask": "ask", "told": "told to the model", "nothing": "nothing to say"}

// caseText describes the events of a case.
func caseText(c *cases.Case) string {
	var parts []string
	for _, before := range c.After {
		parts = append(parts, "after "+callText(before))
	}
	switch {
	case c.Prompt != "":
		parts = append(parts, "the prompt "+code(c.Prompt))
	case c.Done:
		parts = append(parts, "after "+callText(c.ToolCall))
	default:
		parts = append(parts, callText(c.ToolCall))
	}
	return strings.Join(parts, ", ")
}

// callText returns a call: the command, or the tool and its input.
func callText(c cases.ToolCall) string {
	fields := c.Fields("/home/user/project")
	if command, ok := fields["command"].(string); ok && c.ToolName() == "Bash" {
		return code(command)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return c.ToolName() // YAML has values that JSON lacks
	}
	return c.ToolName() + " " + code(string(text))
}
