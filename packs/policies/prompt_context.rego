# METADATA
# scope: package
# title: Context on every prompt
# description: What policies.context says is told to the model with every prompt.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["UserPromptSubmit"]
package cardea.policies.prompt_context

import rego.v1

add_context contains text if some text in input.cardea.settings.context
