package cardea.policies.push_from_main_test

import rego.v1

import data.cardea.policies.push_from_main

push(branch) := {"cardea": {"parts": [{"command": ["git", "push"]}]}, "signals": {"git_branch": branch}}

test_main if {
	some d in push_from_main.deny with input as push("main")
	d.rule_id == "PUSH-001"
}

test_branch if {
	count(push_from_main.deny) == 0 with input as push("feature")
	count(push_from_main.ask) == 0 with input as push("feature")
}

test_unknown if {
	count(push_from_main.ask) == 1 with input as push({"ok": false, "error": "timed out"})
}
