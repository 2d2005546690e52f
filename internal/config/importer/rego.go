package importer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// literal matches a text that a policy looks for in a command.
var literal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:contains|startswith)\(\s*(?:lower\()?input\.tool_input\.command\)?\s*,\s*"([^"\\]+)"\s*\)`)
})

// Unrouted returns the tools and events that a policy's rules name and its METADATA leaves
// out. Cupcake runs such a rule if any policy is routed to them; Cardea never does. No
// tools in METADATA means all tools.
func Unrouted(text string, events, tools []string) []string {
	var out []string
	for _, of := range []struct {
		field  string
		routed []string
	}{{"tool_name", tools}, {"hook_event_name", events}} {
		if len(of.routed) == 0 || slices.Contains(of.routed, "*") {
			continue
		}
		about := regexp.MustCompile(`(?m)^[^#\n]*input\.` + of.field + `\s*(?:==\s*("[^"\n]*")|in\s*[{\[]([^}\]]*)[}\]])`)
		for _, m := range about.FindAllStringSubmatch(text, -1) {
			for _, word := range regexp.MustCompile(`"([^"\n]*)"`).FindAllStringSubmatch(m[1]+m[2], -1) {
				if !slices.Contains(of.routed, word[1]) {
					out = with(out, word[1])
				}
			}
		}
	}
	return out
}

// head returns the beginning of an imported policy.
func head(title, event, tools string, signals []string, name string) string {
	routing := "#     required_events: [" + regoText(event) + "]\n"
	if tools != "" {
		routing += "#     required_tools: [" + tools + "]\n"
	}
	return "# METADATA\n# scope: package\n# title: " + title + "\n# custom:\n#   routing:\n" + routing +
		"#     required_signals: [" + list(signals, ", ", regoText) + "]\npackage cardea.policies.imported_" + name + "\n\nimport rego.v1\n\n"
}

// regoText returns a text as a Rego string.
func regoText(s string) string {
	b, _ := json.Marshal(s) // a string never fails
	return string(b)
}

// regoChecks returns the table of checks as Rego, and the signals of the checks.
func regoChecks(checks []check) (text string, signals []string) {
	var b strings.Builder
	b.WriteString("checks := [\n")
	for _, k := range checks {
		signals = append(signals, k.signal)
		fmt.Fprintf(&b, "\t{\"signal\": %s, \"extension\": %s, \"message\": %s},\n", regoText(k.signal), regoText(k.extension), regoText(k.message))
	}
	b.WriteString("]\n\n")
	return b.String(), signals
}

// failed is the Rego code that tests whether a check failed, and returns its output.
const failed = `failed(said) if {
	said.ok == false
	object.get(said, "ran", true)
}

said_of(said) := trim_space(concat("\n", [object.get(said, "output", ""), object.get(said, "error", "")]))
`

// gitPreCheck returns the policy that denies git operations if a check fails.
func gitPreCheck(operations []string, checks []check) string {
	table, signals := regoChecks(checks)
	return head("Checks before git", "PreToolUse", `"Bash"`, signals, "git_pre_check") + table + "operations := {" + list(operations, ", ", regoText) + "}\n\n" + `deny contains decision if {
	some part in input.cardea.parts
	part.command[0] == "git"
	part.command[1] in operations
	some check in checks
	said := input.signals[check.signal]
	failed(said)
	decision := {
		"rule_id": "git-pre-check",
		"reason": sprintf("%s\n%s", [check.message, said_of(said)]),
		"severity": "HIGH",
	}
}

` + failed
}

// postEditCheck returns the policy that reports failed checks of edited files.
func postEditCheck(checks []check) string {
	list, signals := regoChecks(checks)
	return head("Checks after edits", "PostToolUse", `"Write", "Edit", "MultiEdit", "NotebookEdit"`, signals, "post_edit_check") + list + `block contains decision if {
	some check in checks
	endswith(object.get(input.tool_input, "file_path", object.get(input.tool_input, "notebook_path", "")), check.extension)
	said := input.signals[check.signal]
	failed(said)
	decision := {
		"rule_id": "post-edit-check",
		"reason": sprintf("%s\n%s", [check.message, said_of(said)]),
		"severity": "MEDIUM",
	}
}

` + failed
}

func promptContext(signals []string) string {
	return head("Context on every prompt", "UserPromptSubmit", "", signals, "prompt_context") + `add_context contains text if {
	some text in input.signals
	is_string(text)
	text != ""
}
`
}
