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

# A line can have as many accesses as it has room for, and its time is short. So
# the accesses are walked through once, their paths are one text, and the
# protected ones one regular expression that is looked for in it. No path has a
# NUL.

deny contains decision if {
	some access in touched
	some name, p in protected
	reaches(access, p)
	decision := {
		"rule_id": "protected-paths",
		"reason": sprintf("%s is protected (%s); leave it, or ask the person", [access.path, name]),
		"severity": "HIGH",
		"part": access.part,
	}
}

# Where it is not known what is written, a person is asked.
ask contains decision if {
	some access in input.cardea.accesses
	access.path == ""
	access.host == ""
	access.kind in {"write", "delete"}
	count(protected) > 0
	decision := {
		"rule_id": "protected-paths",
		"reason": "it is not known what this writes, and it may be something that is protected",
		"severity": "MEDIUM",
		"part": access.part,
	}
}

ask contains decision if {
	too_many_patterns
	decision := {
		"rule_id": "protected-paths",
		"reason": "it is not known what this writes: it has more patterns of names than are compared with what is protected",
		"severity": "MEDIUM",
	}
}

# PowerShell is not analysed: what is named in the text may be written.
ask contains decision if {
	input.cardea.tool == "PowerShell"
	script := lower(replace(input.tool_input.command, `\`, "/"))
	not only_reads(script)
	some name, p in protected
	some mention in mentions(name, p.names)
	regex.match(concat("", [`(?:^|[/\s"'=,;:(){}|&<>@])(?:`, mention, `)/?(?:$|[/\s"'=,;:(){}|&<>])`]), script)
	decision := {
		"rule_id": "protected-paths",
		"reason": sprintf("it is not known what PowerShell writes, and it names what is protected (%s)", [name]),
		"severity": "MEDIUM",
	}
}

# Every statement begins with a command that reads, and nothing is redirected.
only_reads(script) if {
	not contains(script, ">")
	every statement in regex.split(`[;|&\n\r(){}]+`, script) {
		regex.match(concat("", [
			`^\s*(?:$|(?:get|test|measure|compare|resolve|select|sort|where|group)-[a-z]+(?:\s|$)|format-(?:table|list|wide|hex)(?:\s|$)|(?:set|push|pop)-location(?:\s|$)`,
			`|(?:cat|cd|dir|echo|findstr|gc|gci|gi|ls|more|select|sls|sort|type|where|write-host|write-output)(?:\s|$)|git\s+(?:diff|log|show|status|blame)(?:\s|$))`,
		]), statement)
	}
}

changes := [access |
	some access in input.cardea.accesses
	access.kind in {"write", "delete", "unknown"}
	access.path != ""
]

# The accesses that reach something protected. Of very many paths the first are
# told.
touched contains access if {
	count(named) > 0
	some access in changes
	named[access.path]
}

touched contains access if {
	count(named) > 0
	some access in changes
	named[access.spelled]
}

touched contains access if {
	some access in changes
	access.recursive
	not access.glob
	count({access.path, access.spelled} & above) > 0
}

touched contains access if {
	not too_many_patterns
	some access in patterns
	some p in protected
	meets(access, p)
}

reaches(access, p) if {
	some path in {access.path, access.spelled}
	regex.match(inside(p.regex), whole(path))
}

reaches(access, p) if {
	access.recursive
	not access.glob
	count({access.path, access.spelled} & p.above) > 0
}

reaches(access, p) if {
	access.glob
	not too_many_patterns
	meets(access, p)
}

# The paths that are protected themselves, or lie below.
named := {trim(found, "\u0000") | some found in regex.find_n(inside(concat("|", [p.regex | some p in protected])), text, 20)} if count(protected) > 0

text := whole(concat("\u0000\u0000", {access.path | some access in changes} | {access.spelled | some access in changes}))

whole(path) := concat("", ["\u0000", path, "\u0000"])

inside(regexes) := concat("", [`\x00(?:`, regexes, `)(?:/[^\x00]*)?\x00`])

above := union({p.above | some p in protected})

# What is protected, by the name that the settings give it.
protected[pattern] := {"names": all, "regex": expression(concat("", [path | some name in all; path := concat("", ["/", name])])), "above": folders(all)} if {
	some pattern in input.cardea.settings.protected
	pattern != ""
	all := names(absolute(pattern))
}

absolute(pattern) := pattern if startswith(pattern, "/")

# What looks like a wildcard in the name of the project's folder is none.
absolute(pattern) := concat("/", [strings.replace_n({"*": "\u0004", "?": "\u0005"}, input.cardea.project), pattern]) if not startswith(pattern, "/")

# The names of a path, without ".", ".." and what ".." takes away.
names(path) := [step |
	some i, step in steps
	step != ".."
	not taken(steps, i)
] if steps := [step | some step in split(path, "/"); not step in {"", "."}]

taken(steps, i) if {
	some j, _ in steps
	j > i
	through := array.slice(steps, i, j + 1)
	count([step | some step in through; step == ".."]) * 2 == count(through)
}

# A pattern as a regular expression. "**" stands for any number of folders, none
# too.
expression(pattern) := out if {
	literal := regex.replace(pattern, `[.+^$()|\[\]{}\\]`, `\${0}`)
	between := regex.replace(literal, `(?:/\*\*+)+/`, "\u0001")
	below := regex.replace(between, `(?:/\*\*+)+$`, "\u0002")
	crossing := regex.replace(below, `\*\*+`, "\u0003")
	out := strings.replace_n({
		"\u0001": `/(?:[^\x00]*/)?`, "\u0002": `/[^\x00]+`, "\u0003": `[^\x00]*`,
		"*": `[^/\x00]*`, "?": `[^/\x00]`,
		"\u0004": `\*`, "\u0005": `\?`,
	}, crossing)
}

wild(name) if regex.match(`[*?]`, name)

# How a text may name a path: all of it, as the settings do, and by its last name.
mentions(pattern, all) := {mention |
	some spelling in array.concat([all, names(pattern)], lasts(all))
	written := trim_suffix(lower(concat("/", array.concat([""], spelling))), "/**")
	mention := trim_prefix(replace(expression(written), `\x00`, `\s"'`), "/")
}

lasts(all) := [[name] |
	places := [i | some i, name in all; name != "**"]
	name := all[places[count(places) - 1]]
	not wild(name)
]

# The first names, up to one that is a pattern.
lead(all) := array.slice(all, 0, min({i | some i, name in all; wild(name)} | {count(all)}))

# The folders with which everything goes that is protected: those above, and the
# one that a pattern begins in.
folders(all) := {concat("", ["/", strings.replace_n({"\u0004": "*", "\u0005": "?"}, concat("/", array.slice(first, 0, n)))]) |
	first := lead(all)
	some n in numbers.range(0, count(first))
}

# Patterns on the line. They are held against each protected path name by name,
# which takes its time.
patterns contains access if {
	some access in changes
	access.glob
}

too_many_patterns if count(patterns) * count(input.cardea.settings.protected) > 4000

# The names of a pattern, with its folder as it is spelled, and as links lead.
entries(access) := {names(pattern), names(concat("", [folder, rest]))} if {
	folder := trim_suffix(access.path, "/")
	pattern := object.get(access, "pattern", concat("", [folder, "/*"]))
	rest := below(pattern, folder)
}

below(pattern, folder) := trim_prefix(pattern, folder) if startswith(pattern, concat("", [folder, "/"]))

below(pattern, folder) := regex.find_n(`/[^/]*[*?\[(].*$|$`, pattern, 1)[0] if not startswith(pattern, concat("", [folder, "/"]))

# A pattern may name what is protected, or lies below it, or with a recursive
# access what is above it.
meets(access, p) if {
	some line in entries(access)
	fixed := min({i | some i, name in p.names; contains(name, "**")} | {count(p.names)})
	every i, name in array.slice(line, 0, fixed) {
		same(name, p.names[i])
	}
	long_enough(access, line, p.names, fixed)
}

long_enough(access, line, _, fixed) if {
	access.recursive
	count(line) <= fixed
}

long_enough(_, line, all, fixed) if {
	fixed == count(all)
	count(line) >= fixed
}

# Everything below a folder.
long_enough(_, line, all, fixed) if {
	fixed == count(all) - 1
	all[fixed] == "**"
	count(line) > fixed
}

# Names at any depth: "*" is about them in the folder that they begin in, and no
# more below it than deleting a folder is.
long_enough(_, line, all, fixed) if {
	count(line) == fixed + 1
	regex.match(`^[*?]+$`, line[fixed])
	fixed < count(all)
}

long_enough(_, line, all, fixed) if {
	count(line) > fixed
	fixed < count(all)
	last := line[count(line) - 1]
	not regex.match(`^[*?]+$`, last)
	same(last, all[count(all) - 1])
}

# A name of the line, which may be a pattern, and one that is protected, can be
# the same.
same(name, other) if matches(other, name)

same(name, other) if {
	not wild(other)
	matches(loose(name), other)
}

# Of two patterns no more is looked at than how they begin and end.
same(name, other) if {
	wild(other)
	ours := loose(name)
	wild(ours)
	one_begins(first_letters(ours), first_letters(other))
	one_begins(strings.reverse(last_letters(ours)), strings.reverse(last_letters(other)))
}

matches(pattern, name) if regex.match(concat("", ["^(?s:", expression(pattern), ")$"]), name)

# A shell's pattern with "**" for all but "*" and "?".
loose(name) := regex.replace(name, `(?s)[?*+@!]?[\[(\\](?:.*[\])]|.*)`, "**")

first_letters(pattern) := regex.find_n(`^[^*?]*`, pattern, 1)[0]

last_letters(pattern) := regex.find_n(`[^*?]*$`, pattern, 1)[0]

one_begins(a, b) if startswith(a, b)

one_begins(a, b) if startswith(b, a)
