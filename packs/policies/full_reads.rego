# METADATA
# scope: package
# title: Files are read whole
# description: A file that can be read whole is read whole, so that nothing is edited of which half was seen.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Read"]
#     required_signals: ["size"]
package cardea.policies.full_reads

import rego.v1

# What harnesses read at once: Claude Code shows 2000 lines of a file, and refuses
# what is longer than 25 000 tokens.
most_lines := 2000

most_bytes := 64000

# Claude Code's fields, and that of Copilot CLI's view.
partial contains field if {
	some field in ["offset", "limit", "view_range"]
	input.tool_input[field] != null
	not leaves_nothing_out(field, input.tool_input[field])
}

# What is not a number, such as "3", says nothing of how much is read, and is
# greater than every number to Rego.
leaves_nothing_out("offset", first) if first in {0, 1}

leaves_nothing_out("limit", last) if reaches_the_end(last)

leaves_nothing_out("view_range", [first, last]) if {
	first in {0, 1}
	reaches_the_end(last)
}

leaves_nothing_out("view_range", [first, -1]) if first in {0, 1}

reaches_the_end(last) if {
	is_number(last)
	last >= input.signals.size.lines
}

deny contains decision if {
	size := input.signals.size
	size.ok
	size.lines <= most_lines
	size.bytes <= most_bytes
	count(partial) > 0
	decision := {
		"rule_id": "full-reads",
		"reason": sprintf("read the whole of %s: leave out %s", [input.tool_input.file_path, concat(" and ", sort(partial))]),
		"severity": "LOW",
	}
}
