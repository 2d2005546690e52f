# METADATA
# scope: package
# title: pnpm in the place of npm
# description: An npm install becomes the same with pnpm; a person sees it before it runs.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cardea.policies.pnpm_only

import rego.v1

modify contains decision if {
	count(input.cardea.parts) == 1
	input.cardea.parts[0].command == ["npm", "install"]
	startswith(input.tool_input.command, "npm ")
	decision := {
		"rule_id": "PNPM-001",
		"reason": "this project uses pnpm",
		"severity": "LOW",
		"priority": 10,
		"updated_input": {"command": concat("", ["p", input.tool_input.command])},
	}
}

add_context contains "This project uses pnpm, not npm." if {
	some part in input.cardea.parts
	part.command[0] == "npm"
}
