package cardea.policies.edit_validators_test

import rego.v1

import data.cardea.policies.edit_validators

test_blocked if {
	some d in edit_validators.block with input.signals.validate as {"ok": false, "error": "exit status 1: x.go:1: no", "timed_out": false}
	contains(d.reason, "x.go:1")
}

test_output_is_told if {
	some d in edit_validators.block with input.signals.validate as {"ok": false, "error": "exit status 1", "output": "x.go:1: no", "timed_out": false}
	d.reason == "the validator says: exit status 1\nx.go:1: no"
}

test_fine if {
	count(edit_validators.block) == 0 with input.signals.validate as "ok"
	count(edit_validators.block) == 0 with input.signals.validate as {"ok": true}
	count(edit_validators.block) == 0 with input.signals.validate as {"ok": false, "ran": false, "error": "never trusted", "timed_out": false}
}
