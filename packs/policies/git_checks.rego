# METADATA
# scope: package
# title: Checks before git commit, push and merge
# description: >-
#   What is committed, pushed or merged was checked: each command of policies.checks ran and
#   succeeded since the last change, and the signal git_checks, where there is one, succeeds now.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
#     required_signals: ["evidence", "git_checks"]
package cardea.policies.git_checks

import rego.v1

publishing := {["git", "commit"], ["git", "push"], ["git", "merge"]}

# What changes nothing that others see.
harmless := {"--dry-run", "--abort", "--help"}

published contains part if {
	some part in input.cardea.parts
	part.command in publishing
	not only_looks(part)
}

only_looks(part) if {
	part.static
	some option in part.options
	option.name in harmless

	# It is no other option's value: of an abbreviated one (--mess --dry-run) the
	# next word is read as both.
	every other in part.options {
		other.value != option.name
	}

	# git takes the last of --dry-run and --no-dry-run.
	every other in part.options {
		not startswith(other.name, "--no-")
	}
}

deny contains decision if {
	some part in published
	count(open) > 0
	decision := {
		"rule_id": "git-checks",
		"reason": sprintf("not checked since the last change; run this first, exactly so, in calls of their own: %s", [concat(", then ", [sprintf("`%s`", [check]) | some check in sort(open)])]),
		"severity": "MEDIUM",
		"part": part.index,
	}
}

deny contains decision if {
	some part in published
	count(input.cardea.settings.checks) > 0
	count(open) == 0
	input.signals.evidence.writes
	decision := {
		"rule_id": "git-checks",
		"reason": sprintf("this call may change a file besides, which is not checked then; run %s in a call of its own", [concat(" ", part.command)]),
		"severity": "MEDIUM",
		"part": part.index,
	}
}

# Where it is not known what git does, or in which repository, a person is asked.
ask contains decision if {
	count(open) > 0
	some index in input.signals.evidence.unknown
	decision := {
		"rule_id": "git-checks",
		"reason": "this may commit, push or merge what was not checked since the last change: it is not known what git is told",
		"severity": "MEDIUM",
		"part": index,
	}
}

ask contains decision if {
	count(input.cardea.settings.checks) > 0
	count(open) == 0
	input.signals.evidence.elsewhere
	some part in published
	decision := {
		"rule_id": "git-checks",
		"reason": "this commits, pushes or merges in another repository, or it is not known in which one; only this project was checked",
		"severity": "MEDIUM",
		"part": part.index,
	}
}

open contains check if {
	some check in input.cardea.settings.checks
	not check in passed
}

deny contains decision if {
	some part in published
	checked := input.signals.git_checks
	checked.ok == false
	object.get(checked, "ran", true)
	decision := {
		"rule_id": "git-checks",
		"reason": sprintf("the check before %s fails: %s", [concat(" ", part.command), object.get(checked, "error", "it says no")]),
		"severity": "MEDIUM",
		"part": part.index,
	}
}

passed contains check if some check in input.signals.evidence.passed
