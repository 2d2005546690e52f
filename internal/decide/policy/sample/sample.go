// Package sample has the policies for measurements: benchmarks and the ratio of a cold hook
// use the same ones. No program links it.
package sample

import (
	"fmt"
	"strconv"
	"strings"
)

// Files returns n policies of about thirty lines, by file name, and their library. The
// first three are routed to Bash.
func Files(n int) map[string]string {
	out := map[string]string{"lib.rego": library}
	for i := range n {
		tool := "Write"
		if i < 3 {
			tool = "Bash"
		}
		out[fmt.Sprintf("p%d.rego", i)] = strings.NewReplacer("NUMBER", strconv.Itoa(i), "TOOL", tool).Replace(policy)
	}
	return out
}

const library = `package cardea.lib.text

import rego.v1

has_word(s, w) if { some x in split(s, " "); x == w }

any_of(s, list) if { some x in list; contains(s, x) }

norm(s) := lower(trim_space(s))
`

const policy = `# METADATA
# scope: package
# title: Policy NUMBER
# authors: ["Security Team"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["TOOL"]
package cardea.policies.pNUMBER

import rego.v1

import data.cardea.lib.text

deny contains decision if {
	text.has_word(text.norm(input.tool_input.command), "dangerNUMBER")
	decision := {"rule_id": "P-NUMBER", "reason": sprintf("danger in %s", [input.tool_name]), "severity": "HIGH"}
}

ask contains decision if {
	some part in input.cardea.parts
	part.command == ["git", "push"]
	not released
	decision := {"rule_id": "P-NUMBER-ASK", "reason": "who releases?", "severity": "LOW"}
}

add_context contains "remember" if text.any_of(input.tool_input.command, ["git commit", "git push"])

released if input.cardea.role == "releaser"
`
