# METADATA
# scope: package
# title: Where we are, with every prompt
# description: The model is told the branch and the ticket that its name holds.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["UserPromptSubmit", "SessionStart"]
#     required_signals: ["git_branch"]
package cardea.policies.branch_context

import rego.v1

add_context contains sprintf("The current branch is %s.", [input.signals.git_branch]) if is_string(input.signals.git_branch)

add_context contains sprintf("The work is about ticket %s.", [ticket]) if {
	is_string(input.signals.git_branch)
	ticket := regex.find_n(`[A-Z]+-[0-9]+`, input.signals.git_branch, 1)[0]
}
