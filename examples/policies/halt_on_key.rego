# METADATA
# scope: package
# title: Stop when a private key was shown
# description: A key that a tool has shown is no secret any more, so stop, and let a person replace it.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PostToolUse"]
#     required_tools: ["Bash", "Read"]
package cardea.policies.halt_on_key

import rego.v1

shown := json.marshal(input.tool_response)

halt contains decision if {
	regex.match(`-----BEGIN [A-Z ]*PRIVATE KEY-----`, shown)
	decision := {
		"rule_id": "KEY-001",
		"reason": "a private key was shown to the model; replace it",
		"severity": "CRITICAL",
	}
}
