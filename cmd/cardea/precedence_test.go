package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// precedence is the table of scopes: the effect of each on a call, and the verdict. "" is
// silence.
var precedence = []struct{ org, project, user, verdict string }{
	{"deny", "allow", "allow", "deny"},
	{"allow", "deny", "allow", "deny"},
	{"allow", "allow", "deny", "deny"},
	{"allow", "allow", "allow", "allow"},
	{"allow", "ask", "allow", "ask"},
	{"ask", "allow", "allow", "ask"},
	{"allow", "allow", "ask", "ask"},
	{"deny", "ask", "allow", "deny"},
	{"", "", "allow", "allow"},
}

// A speaker is a kind of source. It returns files, by path in the folder of a case, that
// give a column of the table an effect on the command "frob gently". It returns none if the
// column has no such source.
type speaker struct {
	name string
	says func(column, effect string) map[string]string
}

// The folders of a case: the person's own, the system's, and that of the harness's
// managed settings.
const (
	caseUser    = "home/.config/cardea"
	caseOrg     = caseUser + "/org/acme"
	caseProject = "app/.cardea"
	caseSystem  = "etc/cardea"
	caseManaged = "etc/claude-code"
)

// scopeFolders returns the folder of a column. With system, the system replaces the
// organisation.
func scopeFolders(column string, system bool) string {
	switch {
	case column == "project":
		return caseProject
	case column == "user":
		return caseUser
	case system:
		return caseSystem
	}
	return caseOrg
}

// speakers returns all kinds of sources. A new kind needs an entry here, and a line in
// arrangements.
func speakers() map[string]speaker {
	out := map[string]speaker{}
	add := func(name string, says func(column, effect string) map[string]string) { out[name] = speaker{name, says} }
	for _, system := range []bool{false, true} {
		prefix := map[bool]string{true: "system-"}[system]
		add(prefix+"rules", func(column, effect string) map[string]string {
			return map[string]string{scopeFolders(column, system) + "/rules/r.yaml": fmt.Sprintf("rules: [{id: %s-says, tool: Bash, match: {command: frob}, effect: %s}]\n", column, effect)}
		})
		add(prefix+"overrides", func(column, effect string) map[string]string {
			return map[string]string{scopeFolders(column, system) + "/overrides.yaml": fmt.Sprintf("overrides: [{command: \"frob *\", effect: %s}]\n", effect)}
		})
		add(prefix+"roles", func(column, effect string) map[string]string {
			return map[string]string{scopeFolders(column, system) + "/roles.yaml": fmt.Sprintf("roles: {worker: {paths: {%s_write: [out/]}}}\n", effect)}
		})
		add(prefix+"policies", func(column, effect string) map[string]string {
			verb := map[string]string{"allow": "allow_override"}[effect]
			if verb == "" {
				verb = effect
			}
			return map[string]string{scopeFolders(column, system) + "/policies/p.rego": fmt.Sprintf(`# METADATA
# scope: package
# custom:
#   routing:
#     required_events: [PreToolUse]
#     required_tools: [Bash]
package cardea.policies.says_%s

import rego.v1

%s contains {"rule_id": "%s", "reason": "a policy says so", "severity": "LOW", "part": 0} if startswith(input.tool_input.command, "frob")
`, column, verb, column)}
		})
	}
	add("permissions", func(column, effect string) map[string]string {
		file := map[string]string{"org": caseManaged + "/managed-settings.json", "project": "app/.claude/settings.json", "user": "home/.claude/settings.json"}[column]
		return map[string]string{file: fmt.Sprintf(`{"permissions": {"%s": ["Bash(frob:*)"]}}`, effect)}
	})
	return out
}

// arrangements hold the kind of source of each column: the same for all, and each kind in
// each column at least once with other kinds.
var arrangements = []struct{ org, project, user string }{
	{"rules", "rules", "rules"},
	{"policies", "policies", "policies"},
	{"permissions", "permissions", "permissions"},
	{"system-rules", "rules", "rules"},
	{"system-policies", "policies", "policies"},
	{"overrides", "overrides", "overrides"},
	{"system-overrides", "overrides", "overrides"},
	{"roles", "roles", "roles"},
	{"system-roles", "roles", "roles"},
	{"rules", "overrides", "policies"},
	{"overrides", "permissions", "rules"},
	{"policies", "rules", "overrides"},
	{"rules", "permissions", "policies"},
	{"policies", "rules", "permissions"},
	{"permissions", "policies", "rules"},
}

// TestPrecedence writes a script for each row of the table, and runs the program like
// TestScripts.
func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	all := speakers()
	for n, row := range precedence {
		var script, files strings.Builder
		for _, a := range arrangements {
			call := "'frob gently'"
			if strings.HasSuffix(a.org, "roles") {
				if row.org == "ask" || row.project == "ask" || row.user == "ask" {
					continue // a role's paths allow or deny
				}
				call = "--role worker 'touch out/x'"
			}
			name := strings.Join([]string{a.org, a.project, a.user}, "_")
			put := func(path, text string) {
				fmt.Fprintf(&files, "-- %s/%s --\n%s\n", name, path, strings.TrimRight(text, "\n"))
			}
			put(caseUser+"/cardea.yaml", "org: {name: acme}\npermissions: {expand: true}\n")
			put("app/.git/config", "")
			for _, c := range []struct{ column, kind, effect string }{{"org", a.org, row.org}, {"project", a.project, row.project}, {"user", a.user, row.user}} {
				if c.effect == "" {
					continue
				}
				for path, text := range all[c.kind].says(c.column, c.effect) {
					put(path, text)
				}
			}
			fmt.Fprintf(&script, "\n# %s\nenv HOME=$WORK/%[1]s/home\nenv USERPROFILE=$HOME\nenv TEST_SYSTEM=$WORK/%[1]s/%[2]s\nenv TEST_MANAGED=$WORK/%[1]s/%[3]s\ncd $WORK/%[1]s/app\n",
				name, caseSystem, caseManaged)
			if row.project == "allow" {
				script.WriteString("exec person trust init\n")
			}
			fmt.Fprintf(&script, "exec cardea try --json %s\nstdout '^\\{\"effect\":\"%s\"'\n", call, row.verdict)
		}
		said := fmt.Sprintf("%d_%s_%s_%s_is_%s", n+1, orSilent(row.org), orSilent(row.project), orSilent(row.user), row.verdict)
		if err := os.WriteFile(filepath.Join(dir, said+".txtar"), []byte(script.String()+"\n"+files.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true, Setup: clean})
}

// Every kind is used, alone and with others, and every effect is in every column.
func TestPrecedenceIsWhole(t *testing.T) {
	for name := range speakers() {
		if !slices.ContainsFunc(arrangements, func(a struct{ org, project, user string }) bool { return a.org == name }) {
			t.Errorf("nobody speaks by %s", name)
		}
	}
	for _, a := range arrangements {
		for _, kind := range []string{a.org, a.project, a.user} {
			if speakers()[kind].says == nil {
				t.Errorf("there is no kind %q", kind)
			}
		}
	}
}

func orSilent(effect string) string {
	if effect == "" {
		return "silent"
	}
	return effect
}
