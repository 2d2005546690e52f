# METADATA
# scope: package
# title: Ask before a deployment
# description: A deployment is asked about, whatever starts it.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cardea.policies.ask_before_deploy

import rego.v1

deploys(part) if part.command == ["kubectl", "apply"]

deploys(part) if part.command == ["terraform", "apply"]

deploys(part) if {
	part.command[0] in {"make", "just", "npm", "pnpm"}
	some word in part.argv
	startswith(word, "deploy")
}

ask contains decision if {
	some part in input.cardea.parts
	deploys(part)
	decision := {
		"rule_id": "DEPLOY-001",
		"reason": sprintf("this deploys: %s", [part.text]),
		"question": "Is anybody on call?",
		"severity": "HIGH",
	}
}
