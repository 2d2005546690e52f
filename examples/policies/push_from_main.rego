# METADATA
# scope: package
# title: No push from main
# description: Whoever stands on main pushes through a pull request.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
#     required_signals: ["git_branch"]
package cardea.policies.push_from_main

import rego.v1

deny contains decision if {
	some part in input.cardea.parts
	part.command == ["git", "push"]
	input.signals.git_branch in {"main", "master"}
	decision := {
		"rule_id": "PUSH-001",
		"reason": sprintf("you are on %s; push a branch, and open a pull request", [input.signals.git_branch]),
		"severity": "HIGH",
	}
}

# Where the branch is not known, a person decides.
ask contains decision if {
	some part in input.cardea.parts
	part.command == ["git", "push"]
	is_object(input.signals.git_branch)
	decision := {
		"rule_id": "PUSH-002",
		"reason": sprintf("the branch is not known: %s", [input.signals.git_branch.error]),
		"question": "Push all the same?",
		"severity": "MEDIUM",
	}
}
