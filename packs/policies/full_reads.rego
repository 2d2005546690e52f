# METADATA
# scope: package
# title: Files are read whole
# description: A file of the project is read as a whole, so that nothing is edited of which half was seen.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Read"]
package cardea.policies.full_reads

import rego.v1

partial contains field if {
	some field in ["offset", "limit"]
	input.tool_input[field]
}

deny contains decision if {
	count(partial) > 0
	not endswith(lower(input.tool_input.file_path), ".pdf")
	decision := {
		"rule_id": "full-reads",
		"reason": sprintf("read the whole of %s: leave out %s", [input.tool_input.file_path, concat(" and ", sort(partial))]),
		"severity": "LOW",
	}
}
