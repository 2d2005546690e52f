package cardea.policies.full_reads_test

import rego.v1

import data.cardea.policies.full_reads

test_partial if {
	some d in full_reads.deny with input.tool_input as {"file_path": "/p/a.go", "offset": 10, "limit": 5}
	contains(d.reason, "limit and offset")
}

test_whole if {
	count(full_reads.deny) == 0 with input.tool_input as {"file_path": "/p/a.go"}
	count(full_reads.deny) == 0 with input.tool_input as {"file_path": "/p/a.PDF", "offset": 1}
}
