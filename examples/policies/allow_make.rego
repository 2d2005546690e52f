# METADATA
# scope: package
# title: make targets that need no question
# description: Targets that are known to be harmless are allowed, part by part.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cardea.policies.allow_make

import rego.v1

harmless := {"test", "lint", "fmt", "build"}

allow_override contains decision if {
	some part in input.cardea.parts
	part.command == ["make"]
	part.static
	count(part.options) == 0
	count(part.assigns) == 0
	every target in part.operands {
		target in harmless
	}
	decision := {
		"rule_id": "MAKE-001",
		"reason": "a target that is known",
		"parts": [part.index],
	}
}
