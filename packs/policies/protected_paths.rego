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
		"rule_id": "protected-paths",
		"reason": sprintf("%s is protected (%s); leave it, or ask the person", [access.path, pattern]),
		"severity": "HIGH",
		"part": access.part,
	}
}

# Where it is not known what is written, a person is asked.
ask contains decision if {
	count(input.cardea.settings.protected) > 0
	some access in input.cardea.accesses
	access.kind in {"write", "delete"}
	access.path == ""
	access.host == ""
	decision := {
		"rule_id": "protected-paths",
		"reason": "it is not known what this writes, and it may be something that is protected",
		"severity": "MEDIUM",
		"part": access.part,
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
	not access.glob
	startswith(literal(absolute(pattern)), folder(path))
}

# A pattern of names: what is touched are entries of the folder, and with a
# recursive access what is below them.
touches(access, pattern) if {
	access.glob
	literal(absolute(pattern)) == access.path
	not apart(access, absolute(pattern))
}

touches(access, pattern) if {
	access.glob
	startswith(literal(absolute(pattern)), folder(access.path))
	not apart(access, absolute(pattern))
}

# No entry of the folder that the access's pattern matches is the protected one,
# or leads to it.
apart(access, protected) if {
	names := entry(access.pattern, access.path)
	name := entry(protected, access.path)
	not regex.match(`[*?\[{]`, name)
	not contains(names, "[")
	not glob.match(names, [], name)
}

apart(access, protected) if {
	names := ending(entry(access.pattern, access.path))
	name := ending(entry(protected, access.path))
	not endswith(names, name)
	not endswith(name, names)
}

# The first name of a path below a folder.
entry(path, from) := split(trim_prefix(path, folder(from)), "/")[0] if startswith(path, folder(from))

# What a pattern ends in for sure.
ending(pattern) := regex.replace(pattern, `^.*[*?\]}]`, "") if regex.match(`[*?\[{]`, pattern)

folder(path) := concat("", [trim_suffix(path, "/"), "/"])

absolute(pattern) := trim_suffix(pattern, "/") if startswith(pattern, "/")

absolute(pattern) := concat("/", [input.cardea.project, trim_suffix(pattern, "/")]) if not startswith(pattern, "/")

# The folder that a pattern begins with.
literal(pattern) := pattern if not regex.match(`[*?\[{]`, pattern)

literal(pattern) := regex.replace(pattern, `/[^/]*[*?\[{].*$`, "") if regex.match(`[*?\[{]`, pattern)
