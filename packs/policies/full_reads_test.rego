package cardea.policies.full_reads_test

import rego.v1

import data.cardea.policies.full_reads

read(fields, lines) := {
	"tool_input": object.union({"file_path": "/p/a.go"}, fields),
	"signals": {"size": {"ok": true, "lines": lines, "bytes": lines * 20}},
}

test_partial if {
	some d in full_reads.deny with input as read({"offset": 10, "limit": 5}, 100)
	contains(d.reason, "limit and offset")
}

test_view_range if count(full_reads.deny) == 1 with input as read({"view_range": [1, 5]}, 100)

test_whole if {
	count(full_reads.deny) == 0 with input as read({}, 100)
	count(full_reads.deny) == 0 with input as read({"offset": null}, 100)
}

test_limit_beyond_the_end if {
	count(full_reads.deny) == 0 with input as read({"limit": 100}, 100)
	count(full_reads.deny) == 1 with input as read({"limit": 99}, 100)
	count(full_reads.deny) == 1 with input as read({"limit": 2000, "offset": 5}, 100)
}

denied(fields) if count(full_reads.deny) == 1 with input as read(fields, 50)

test_nothing_is_left_out if {
	every fields in [{"offset": 0}, {"offset": 1}, {"offset": 0, "limit": 2000}, {"limit": 50}, {"view_range": [1, -1]}, {"view_range": [1, 50]}, {"view_range": [0, 99]}] {
		not denied(fields)
	}
	every fields in [{"offset": 2}, {"offset": -5}, {"offset": 1, "limit": 49}, {"view_range": [2, -1]}, {"view_range": [1, 49]}, {"view_range": [1, -2]}, {"view_range": [1]}] {
		denied(fields)
	}
}

test_what_is_no_number[value] if {
	some value in ["10", "99", "", [3], [], {}, {"x": 1}, true]
	denied({"limit": value})
	denied({"offset": value})
	denied({"view_range": [1, value]})
	denied({"view_range": value})
}

test_too_large_to_be_read_whole if {
	count(full_reads.deny) == 0 with input as read({"offset": 10}, 2001)
	count(full_reads.deny) == 0 with input as {"tool_input": {"offset": 10}, "signals": {"size": {"ok": true, "lines": 3, "bytes": 100000}}}
}

test_unknown_size if {
	count(full_reads.deny) == 0 with input as {"tool_input": {"offset": 10}, "signals": {"size": {"ok": false, "error": "the file cannot be read"}}}
}
