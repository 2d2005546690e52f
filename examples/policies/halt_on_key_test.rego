package cardea.policies.halt_on_key_test

import rego.v1

import data.cardea.policies.halt_on_key

test_halted if {
	key := concat(" ", ["-----BEGIN RSA PRIVATE", "KEY-----"])
	count(halt_on_key.halt) == 1 with input.tool_response as {"stdout": key}
}

test_left_alone if count(halt_on_key.halt) == 0 with input.tool_response as {"stdout": "-----BEGIN PUBLIC KEY-----"}
