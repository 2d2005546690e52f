# METADATA
# scope: package
# title: Validators after edits
# description: After a file was edited, the signal validate looks at it; what it finds goes to the model.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PostToolUse"]
#     required_tools: ["Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"]
#     required_signals: ["validate"]
package cardea.policies.edit_validators

import rego.v1

block contains decision if {
	input.signals.validate.ok == false
	not untrusted
	decision := {
		"rule_id": "edit-validators",
		"reason": sprintf("the validator says: %s", [object.get(input.signals.validate, "error", "no")]),
		"severity": "MEDIUM",
	}
}

untrusted if contains(input.signals.validate.error, "trusted")

untrusted if contains(input.signals.validate.error, "there is no signal")
