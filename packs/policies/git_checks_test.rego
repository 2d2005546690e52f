package cardea.policies.git_checks_test

import rego.v1

import data.cardea.policies.git_checks

call(command, options, passed) := {
	"cardea": {
		"parts": [{"command": command, "options": [{"name": o} | some o in options]}],
		"settings": {"checks": ["npm test", "npm run lint"]},
	},
	"signals": {"evidence": {"passed": passed}},
}

test_unchecked_commit if {
	some d in git_checks.deny with input as call(["git", "commit"], ["-m"], ["npm test"])
	contains(d.reason, "npm run lint")
	not contains(d.reason, "npm test")
}

test_checked_commit if {
	count(git_checks.deny) == 0 with input as call(["git", "commit"], ["-m"], ["npm test", "npm run lint"])
}

test_push_and_merge if {
	count(git_checks.deny) == 1 with input as call(["git", "push"], [], [])
	count(git_checks.deny) == 1 with input as call(["git", "merge"], [], [])
}

test_left_alone if {
	count(git_checks.deny) == 0 with input as call(["git", "status"], [], [])
	count(git_checks.deny) == 0 with input as call(["git", "merge"], ["--abort"], [])
	count(git_checks.deny) == 0 with input as call(["git", "commit"], ["--dry-run"], [])
}

test_no_evidence_is_no_pass if {
	count(git_checks.deny) == 1 with input as object.union(call(["git", "commit"], [], []), {"signals": {"evidence": {"ok": false}}})
}
