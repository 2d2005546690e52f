package cardea.policies.git_checks_test

import rego.v1

import data.cardea.policies.git_checks

call(command, options, passed) := {
	"cardea": {
		"parts": [{"index": 0, "command": command, "static": true, "options": [{"name": o, "value": ""} | some o in options]}],
		"settings": {"checks": ["npm test", "npm run lint"]},
	},
	"signals": {"evidence": {"passed": passed}},
}

signal(command, said) := object.union(
	call(command, ["-m"], ["npm test", "npm run lint"]),
	{"signals": {"git_checks": said}},
)

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

test_not_only_looking if {
	count(git_checks.deny) == 1 with input as call(["git", "push"], ["--dry-run", "--no-dry-run"], [])
	count(git_checks.deny) == 1 with input as call(["git", "commit"], ["--status"], [])
	dynamic := json.patch(call(["git", "push"], ["--dry-run"], []), [{"op": "replace", "path": "/cardea/parts/0/static", "value": false}])
	count(git_checks.deny) == 1 with input as dynamic
}

test_value_of_another_option if {
	taken := json.patch(call(["git", "commit"], ["--mess", "--dry-run"], []), [{"op": "add", "path": "/cardea/parts/0/options/0/value", "value": "--dry-run"}])
	count(git_checks.deny) == 1 with input as taken
}

test_call_that_writes if {
	writes := object.union(call(["git", "push"], [], ["npm test", "npm run lint"]), {"signals": {"evidence": {"writes": true}}})
	some d in git_checks.deny with input as writes
	contains(d.reason, "run git push in a call of its own")
	count(git_checks.deny) == 0 with input as json.patch(writes, [{"op": "replace", "path": "/cardea/settings/checks", "value": []}])
}

test_unknown_subcommand if {
	count(git_checks.ask) == 1 with input as object.union(call(["git"], [], []), {"signals": {"evidence": {"unknown": [0]}}})
	count(git_checks.ask) == 0 with input as object.union(call(["git"], [], ["npm test", "npm run lint"]), {"signals": {"evidence": {"unknown": [0]}}})
}

test_elsewhere if {
	elsewhere := {"signals": {"evidence": {"elsewhere": true}}}
	count(git_checks.ask) == 1 with input as object.union(call(["git", "push"], [], ["npm test", "npm run lint"]), elsewhere)
	count(git_checks.ask) == 0 with input as object.union(call(["git", "push"], [], []), elsewhere)
	count(git_checks.ask) == 0 with input as object.union(call(["git", "status"], [], ["npm test", "npm run lint"]), elsewhere)
}

test_no_evidence_is_no_pass if {
	count(git_checks.deny) == 1 with input as object.union(call(["git", "commit"], [], []), {"signals": {"evidence": {"ok": false}}})
}

test_signal_fails if {
	some d in git_checks.deny with input as signal(["git", "push"], {"ok": false, "error": "exit status 1: 2 tests failed", "timed_out": false})
	contains(d.reason, "2 tests failed")
}

test_signal_succeeds_or_did_not_run if {
	count(git_checks.deny) == 0 with input as signal(["git", "push"], "fine")
	count(git_checks.deny) == 0 with input as signal(["git", "push"], {"ok": true})
	count(git_checks.deny) == 0 with input as signal(["git", "push"], {"ok": false, "ran": false, "error": "never trusted", "timed_out": false})
	count(git_checks.deny) == 0 with input as signal(["git", "status"], {"ok": false, "error": "exit status 1"})
}
