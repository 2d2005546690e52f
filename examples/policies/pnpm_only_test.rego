package cardea.policies.pnpm_only_test

import rego.v1

import data.cardea.policies.pnpm_only

call(command) := {"tool_input": {"command": command}, "cardea": {"parts": [{"command": array.slice(split(command, " "), 0, 2)}]}}

test_changed if {
	some d in pnpm_only.modify with input as call("npm install left-pad")
	d.updated_input.command == "pnpm install left-pad"
}

test_context if count(pnpm_only.add_context) == 1 with input as call("npm test")

test_left_alone if {
	count(pnpm_only.modify) == 0 with input as call("pnpm install x")
	count(pnpm_only.add_context) == 0 with input as call("pnpm install x")
}
