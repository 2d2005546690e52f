# METADATA
# scope: package
# title: Protected paths
# description: Nothing writes, moves or deletes what policies.protected names; reading is left alone.
# authors: ["Cardea"]
# custom:
#   routing:
#     required_events: ["PreToolUse"]
package cardea.policies.protected_paths

import rego.v1

changes := {"write", "delete", "unknown"}

deny contains decision if {
	some access in input.cardea.accesses
	access.kind in changes
	some pattern in input.cardea.settings.protected
	touches(access, pattern)
	decision := {
		"rule_id": "protected-path",
		"reason": sprintf("%s is protected (%s); leave it, or ask the person", [access.path, pattern]),
		"severity": "HIGH",
	}
}

paths(access) := {access.path, object.get(access, "spelled", access.path)}

# The path itself, or something below it.
touches(access, pattern) if {
	some path in paths(access)
	path != ""
	glob.match(absolute(pattern), ["/"], path)
}

touches(access, pattern) if {
	some path in paths(access)
	path != ""
	glob.match(concat("", [absolute(pattern), "/**"]), ["/"], path)
}

# What is deleted or written with everything below it, from above.
touches(access, pattern) if {
	some path in paths(access)
	path != ""
	access.recursive
	startswith(literal(absolute(pattern)), concat("", [trim_suffix(path, "/"), "/"]))
}

# A pattern of names: what is touched are entries of the folder.
touches(access, pattern) if {
	access.glob
	literal(absolute(pattern)) == access.path
}

touches(access, pattern) if {
	access.glob
	startswith(literal(absolute(pattern)), concat("", [trim_suffix(access.path, "/"), "/"]))
}

absolute(pattern) := trim_suffix(pattern, "/") if startswith(pattern, "/")

absolute(pattern) := concat("/", [input.cardea.project, trim_suffix(pattern, "/")]) if not startswith(pattern, "/")

# The folder that a pattern begins with.
literal(pattern) := pattern if not regex.match(`[*?\[{]`, pattern)

literal(pattern) := regex.replace(pattern, `/[^/]*[*?\[{].*$`, "") if regex.match(`[*?\[{]`, pattern)
