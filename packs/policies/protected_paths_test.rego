package cardea.policies.protected_paths_test

import rego.v1

import data.cardea.policies.protected_paths

call(accesses) := {"cardea": {
	"project": "/p",
	"accesses": [object.union({"part": 0, "recursive": false, "glob": false, "host": ""}, a) | some a in accesses],
	"settings": {"protected": ["/etc/", "src/legacy/**", "LICENSE"]},
}}

denied(accesses) if count(protected_paths.deny) > 0 with input as call(accesses)

test_writes if {
	denied([{"kind": "write", "path": "/etc/hosts"}])
	denied([{"kind": "write", "path": "/p/LICENSE"}])
	denied([{"kind": "delete", "path": "/p/src/legacy/a/b.c"}])
	denied([{"kind": "write", "path": "/private/x", "spelled": "/etc/x"}])
}

test_from_above if {
	denied([{"kind": "delete", "path": "/p/src", "recursive": true}])
	denied([{"kind": "delete", "path": "/", "recursive": true}])
	denied([{"kind": "delete", "path": "/p", "glob": true}])
}

pattern(folder, names, recursive) := {"kind": "delete", "path": folder, "glob": true, "pattern": concat("/", [trim_suffix(folder, "/"), names]), "recursive": recursive}

test_patterns if {
	denied([pattern("/p", "*", false)])
	denied([pattern("/p", "s*", true)])
	denied([pattern("/p", "L?CENSE", false)])
	denied([pattern("/p", "[^x]*", false)])
	denied([pattern("/p", "**/*.go", false)])
	denied([pattern("/p/src", "*/x.c", false)])
	denied([pattern("/p/src/legacy", "*.txt", false)])
	denied([pattern("/", "*", true)])
	not denied([pattern("/p", "*.txt", true)])
	not denied([pattern("/p", "x*", true)])
	not denied([pattern("/p/src", "*.c", true)])
	not denied([pattern("/home/u", "*.txt", true)])
}

test_two_patterns if {
	locked := json.patch(call([pattern("/p", "*.txt", true)]), [{"op": "replace", "path": "/cardea/settings/protected", "value": ["*.lock"]}])
	count(protected_paths.deny) == 0 with input as locked
	all := json.patch(locked, [{"op": "replace", "path": "/cardea/accesses/0/pattern", "value": "/p/yarn*"}])
	count(protected_paths.deny) == 1 with input as all
	deep := json.patch(locked, [{"op": "replace", "path": "/cardea/settings/protected", "value": ["**/*.lock"]}])
	count(protected_paths.deny) == 1 with input as deep
}

test_left_alone if {
	not denied([{"kind": "read", "path": "/etc/hosts"}])
	not denied([{"kind": "write", "path": "/p/src/new.c"}])
	not denied([{"kind": "write", "path": "/p/LICENSES"}])
	not denied([{"kind": "delete", "path": "/p/src", "recursive": false}])
	not denied([{"kind": "unknown", "path": ""}])
}

asked(accesses) if count(protected_paths.ask) > 0 with input as call(accesses)

test_unknown_targets if {
	asked([{"kind": "write", "path": ""}])
	asked([{"kind": "delete", "path": ""}])
	not asked([{"kind": "unknown", "path": ""}])
	not asked([{"kind": "read", "path": ""}])
	not asked([{"kind": "write", "path": "/p/x"}])
	nothing := json.patch(call([{"kind": "write", "path": ""}]), [{"op": "replace", "path": "/cardea/settings/protected", "value": []}])
	count(protected_paths.ask) == 0 with input as nothing
}
