package cardea.policies.protected_paths_test

import rego.v1

import data.cardea.policies.protected_paths

call(accesses) := {"cardea": {
	"project": "/p",
	"accesses": [object.union({"part": 0, "recursive": false, "glob": false, "host": "", "spelled": a.path}, a) | some a in accesses],
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

# A call in which one protected path is named.
about(protected, accesses) := json.patch(call(accesses), [{"op": "replace", "path": "/cardea/settings/protected", "value": [protected]}])

hits(protected, accesses) if count(protected_paths.deny) > 0 with input as about(protected, accesses)

writes(protected, path) if hits(protected, [{"kind": "write", "path": path}])

test_two_patterns if {
	not hits("*.lock", [pattern("/p", "*.txt", true)])
	hits("*.lock", [pattern("/p", "yarn*", true)])
	not hits("*.lock", [pattern("/p", "*.lox", false)])
	hits("y*n.lock", [pattern("/p", "ya*", false)])
	not hits("y*n.lock", [pattern("/p", "x*", false)])
	hits("*.lock", [pattern("/p", "[xy]*", false)])
	hits("yarn.lock", [pattern("/p", "@(x|yarn).lock", false)])
	not hits("yarn.lock", [pattern("/p", "@(x|yarn).json", false)])
	hits("yarn.lock", [pattern("/p", "y[", false)])
	not hits("src/legacy/", [pattern("/p", "*", false)])
	hits("src/legacy/", [pattern("/p", "*", true)])
	hits("src/legacy/", [pattern("/p", "*/*/x.c", false)])
	not hits("src/legacy/", [pattern("/p", "*/other/*", true)])
	hits("src/*/keep", [pattern("/p/src", "a/k*", false)])
}

test_at_any_depth if {
	hits("**/*.lock", [pattern("/p", "*", false)])
	hits("**/*.lock", [pattern("/p", "yarn*", true)])
	hits("**/*.lock", [pattern("/p/build", "*.lock", false)])
	hits("**/yarn.lock", [pattern("/p/build", "*.lock", false)])
	hits("**/*.lock", [pattern("/", "*", true)])
	not hits("**/*.lock", [pattern("/", "*", false)])
	not hits("**/*.lock", [pattern("/p", "*.txt", true)])
	not hits("**/*.lock", [pattern("/p/build", "*", true)])
	not hits("**/*.lock", [pattern("/p/build", "*.o", false)])
	not hits("**/yarn.lock", [pattern("/p", "*.json", false)])
}

# The folder of a pattern may be a link.
test_links if {
	linked := {"kind": "delete", "path": "/p/src", "glob": true, "pattern": "/p/link/le*"}
	hits("src/legacy/", [linked])
	hits("link/legacy/", [linked])
	not hits("other/legacy/", [linked])
	hits("src/legacy/", [object.union(linked, {"pattern": "/p/link/*/x.c"})])
}

test_no_folders_are_any_number if {
	every path in ["/p/yarn.lock", "/p/a/yarn.lock", "/p/a/b/yarn.lock", "/p/a/yarn.lock/x"] { writes("**/*.lock", path) }
	every path in ["/p/docs/c.md", "/p/docs/a/c.md", "/p/docs/a/b/c.md"] { writes("docs/**/*.md", path) }
	every path in ["/p/docs.md", "/p/xdocs/c.md", "/docs/c.md", "/p/docs/c.mdx"] { not writes("docs/**/*.md", path) }
	writes("a/**/**/b", "/p/a/b")
	writes("/**/hosts", "/hosts")
	writes("/**", "/x")
	writes("/", "/x")
	writes("src/**.c", "/p/src/a/b.c")
	writes("src/**", "/p/src/a")
	not writes("src/**", "/p/src")
	hits("src/**", [{"kind": "delete", "path": "/p/src", "recursive": true}])
	hits("*.lock", [{"kind": "delete", "path": "/p", "recursive": true}])
	not hits("*/yarn.lock", [{"kind": "delete", "path": "/p/node_modules", "recursive": true}])
}

test_spelling[protected] if {
	some protected, path in {
		"./docs/": "/p/docs/a", "conf//a.yml": "/p/conf/a.yml", "sub/../lib/": "/p/lib/a", "a/b/../../c": "/p/c", "../q/": "/q/x", "/../etc": "/etc/x",
		"/a/./b": "/a/b", ".": "/p/x", "app/[id]/": "/p/app/[id]/page.tsx", "a{1,2}": "/p/a{1,2}", "f(x)+$.|^": "/p/f(x)+$.|^", `a\b`: `/p/a\b`,
		"a?c": "/p/abc",
	}
	writes(protected, path)
}

test_brackets_are_letters if {
	not writes("app/[id]/", "/p/app/i/x")
	not writes("a{1,2}", "/p/a1")
	not writes("f.c", "/p/fxc")
	not writes("a?c", "/p/a/c")
	not writes("", "/p/c")
}

# What a project's folder is called means nothing.
test_names_of_projects[project] if {
	some project in ["/w/br[1]", "/w/br{1}", "/w/a*b", "/w/a?b", "/w/(x)+"]
	within := json.patch(about("src/*.c", [{"kind": "write", "path": concat("", [project, "/src/x.c"])}]), [{"op": "replace", "path": "/cardea/project", "value": project}])
	count(protected_paths.deny) == 1 with input as within
	all := json.patch(within, [{"op": "replace", "path": "/cardea/accesses/0", "value": {"kind": "delete", "path": concat("", [project, "/src"]), "spelled": "", "recursive": true, "glob": false, "part": 0}}])
	count(protected_paths.deny) == 1 with input as all
	other := json.patch(within, [{"op": "replace", "path": concat("", ["/cardea/accesses/0/", key]), "value": "/w/axb/src/x.c"} | some key in ["path", "spelled"]])
	count(protected_paths.deny) == 0 with input as other
}

# A line as long as a line can be.
test_many_accesses if {
	many := [{"kind": "delete", "path": sprintf("/p/f%d", [i])} | some i in numbers.range(1, 500)]
	not denied(many)
	denied(array.concat(many, [{"kind": "delete", "path": "/p/LICENSE"}]))
	all := [{"kind": "delete", "path": sprintf("/p/LICENSE/f%d", [i])} | some i in numbers.range(1, 500)]
	count(protected_paths.deny) == 20 with input as call(all)
}

test_many_patterns if {
	many := [pattern("/p", sprintf("f%d*", [i]), false) | some i in numbers.range(1, 1400)]
	asked(many)
	not denied(many)
	denied(array.concat(many, [{"kind": "delete", "path": "/p/LICENSE"}]))
	not asked(array.slice(many, 0, 50))
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

powershell(script) := {"tool_input": {"command": script}, "cardea": {
	"tool": "PowerShell",
	"project": "/p",
	"accesses": [{"part": 0, "kind": "unknown", "path": "", "spelled": "", "host": "", "recursive": false, "glob": false}],
	"settings": {"protected": ["/etc/", "src/legacy/**", "LICENSE", "docs/**/*.md", "**/*.lock"]},
}}

test_powershell_names_it[script] if {
	some script in [
		"Remove-Item src/legacy/x.c", `del .\src\Legacy\x.c`, "Set-Content -Path LICENSE -Value x", "cd src; ri legacy -Recurse", "'x' > 'LICENSE'",
		"Get-Content LICENSE | Set-Content LICENSE", "(Get-Item /p/src/legacy/x).Delete()", "ri docs/c.md", `ri "docs/a/b/c.md"`, "ri yarn.lock", "ls; ri /etc/hosts",
		"Get-ChildItem src/legacy | Remove-Item", "Format-Volume LICENSE", "ri $PWD/LICENSE", "ri build/x.lock",
	]
	count(protected_paths.ask) == 1 with input as powershell(script)
}

test_powershell_left_alone[script] if {
	some script in [
		"Get-Content src/legacy/x.c | Select-String x", "ls LICENSE", "cd src/legacy", "git diff LICENSE", "Remove-Item src/new/x.c", "ri LICENSES", "ri x.md", "npm run etcetera",
		"dotnet build", "", "ri yarn.lockx",
	]
	count(protected_paths.ask) == 0 with input as powershell(script)
}
