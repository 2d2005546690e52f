package cardea.policies.ask_before_deploy_test

import rego.v1

import data.cardea.policies.ask_before_deploy

call(command, argv) := {"cardea": {"parts": [{"command": command, "argv": argv, "text": concat(" ", argv)}]}}

test_asked if {
	count(ask_before_deploy.ask) == 1 with input as call(["kubectl", "apply"], ["kubectl", "apply", "-f", "x"])
	count(ask_before_deploy.ask) == 1 with input as call(["terraform", "apply"], ["terraform", "apply"])
	count(ask_before_deploy.ask) == 1 with input as call(["make"], ["make", "deploy-prod"])
}

test_left_alone if {
	count(ask_before_deploy.ask) == 0 with input as call(["make"], ["make", "test"])
	count(ask_before_deploy.ask) == 0 with input as call(["git", "log"], ["git", "log", "deploy"])
}
