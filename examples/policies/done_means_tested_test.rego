package cardea.policies.done_means_tested_test

import rego.v1

import data.cardea.policies.done_means_tested

stop(active, said) := {"stop_hook_active": active, "signals": {"tests": said}}

failed := {"ok": false, "error": "exit status 1: 2 failures", "timed_out": false}

test_goes_on if {
	some d in done_means_tested.block with input as stop(false, failed)
	contains(d.reason, "2 failures")
}

test_stops if {
	count(done_means_tested.block) == 0 with input as stop(true, failed)
	count(done_means_tested.block) == 0 with input as stop(false, "ok")
	count(done_means_tested.block) == 0 with input as stop(false, object.union(failed, {"timed_out": true}))
}
