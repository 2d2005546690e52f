# METADATA
# scope: package
# title: The database is read only
# description: SQL that an MCP server is sent may only read.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["mcp__postgres__*", "mcp__mysql__*", "mcp__sqlite__*"]
package cardea.policies.read_only_database

import rego.v1

statement contains text if {
	some field in ["sql", "query", "statement"]
	text := input.tool_input[field]
}

# What begins like a question and holds none of the words that change something.
question(text) if {
	regex.match(`(?i)^\s*(select|explain|show|describe)\b`, text)
	not regex.match(`(?i)\b(insert|update|delete|drop|alter|create|truncate|grant|into|call|copy)\b|;\s*\S`, text)
}

deny contains decision if {
	some text in statement
	not question(text)
	decision := {
		"rule_id": "SQL-001",
		"reason": "this may change the database; write a migration",
		"severity": "HIGH",
	}
}
