# METADATA
# scope: package
# title: Checks before git commit, push and merge
# description: >-
#   What is committed, pushed or merged was checked since the last change: each command of
#   policies.checks ran and succeeded, or the signal git_checks says so.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
#     required_signals: ["evidence"]
package cardea.policies.git_checks

import rego.v1

publishing := {["git", "commit"], ["git", "push"], ["git", "merge"]}

harmless := {"--dry-run", "--abort", "--help", "--status"}

deny contains decision if {
	some part in input.cardea.parts
	part.command in publishing
	every option in part.options {
		not option.name in harmless
	}
	open := {check | some check in input.cardea.settings.checks; not check in passed}
	count(open) > 0
	decision := {
		"rule_id": "git-checks",
		"reason": sprintf("not checked since the last change; run this first, by itself: %s", [concat(" && ", sort(open))]),
		"severity": "MEDIUM",
	}
}

passed contains check if some check in input.signals.evidence.passed
