package cardea.policies.allow_make_test

import rego.v1

import data.cardea.policies.allow_make

make(operands, options) := {"cardea": {"parts": [
	{"index": 0, "command": ["cd"], "static": true, "options": [], "assigns": [], "operands": ["x"]},
	{"index": 1, "command": ["make"], "static": true, "options": options, "assigns": [], "operands": operands},
]}}

test_allowed if {
	some d in allow_make.allow_override with input as make(["test", "lint"], [])
	d.parts == [1]
}

test_not_allowed if {
	count(allow_make.allow_override) == 0 with input as make(["deploy"], [])
	count(allow_make.allow_override) == 0 with input as make(["test"], [{"name": "-f"}])
}
