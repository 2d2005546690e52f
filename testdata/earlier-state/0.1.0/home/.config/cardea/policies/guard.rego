# METADATA
# scope: package
# title: Guard
# authors: [Me]
# custom:
#   routing:
#     required_events: [PreToolUse]
#     required_tools: [Bash]
package cardea.policies.guard

import rego.v1

deny contains {"rule_id": "G", "reason": "guarded by a policy", "severity": "HIGH"} if contains(input.tool_input.command, "danger")
