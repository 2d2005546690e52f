package cardea.policies.branch_context_test

import rego.v1

import data.cardea.policies.branch_context

test_told if {
	branch_context.add_context == {"The current branch is feature/AB-12-x.", "The work is about ticket AB-12."} with input.signals.git_branch as "feature/AB-12-x"
}

test_unknown if count(branch_context.add_context) == 0 with input.signals.git_branch as {"ok": false}
