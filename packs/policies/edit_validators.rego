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

# Most validators write what is wrong to standard output.
told(said) := [text | some text in [object.get(said, "error", "no"), substring(object.get(said, "output", ""), 0, 4000)]; text != ""]

block contains decision if {
	said := input.signals.validate
	said.ok == false
	object.get(said, "ran", true)
	decision := {
		"rule_id": "edit-validators",
		"reason": sprintf("the validator says: %s", [concat("\n", told(said))]),
		"severity": "MEDIUM",
	}
}
