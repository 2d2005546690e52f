package cardea.policies.protected_paths_test

import rego.v1

import data.cardea.policies.protected_paths

call(accesses) := {"cardea": {
	"project": "/p",
	"accesses": [object.union({"recursive": false, "glob": false}, a) | some a in accesses],
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

test_left_alone if {
	not denied([{"kind": "read", "path": "/etc/hosts"}])
	not denied([{"kind": "write", "path": "/p/src/new.c"}])
	not denied([{"kind": "write", "path": "/p/LICENSES"}])
	not denied([{"kind": "delete", "path": "/p/src", "recursive": false}])
	not denied([{"kind": "unknown", "path": ""}])
}
