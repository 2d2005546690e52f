# METADATA
# scope: package
# title: Done means tested
# description: The agent does not stop while the tests fail.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["Stop"]
#     required_signals: ["tests"]
package cardea.policies.done_means_tested

import rego.v1

# The signal runs the tests; what it says is the reason to go on. The harness
# tells when this very policy made it go on, so that it does not go on for ever.
block contains decision if {
	object.get(input, "stop_hook_active", false) == false
	input.signals.tests.ok == false
	input.signals.tests.timed_out == false
	decision := {
		"rule_id": "DONE-001",
		"reason": sprintf("the tests fail, so it is not done: %s", [input.signals.tests.error]),
		"severity": "MEDIUM",
	}
}
