package cardea.policies.prompt_context_test

import rego.v1

import data.cardea.policies.prompt_context

test_told if {
	prompt_context.add_context == {"a", "b"} with input.cardea.settings.context as ["a", "b"]
}

test_nothing if {
	count(prompt_context.add_context) == 0 with input.cardea.settings as {}
}
