package rolepaths_test

import (
	"fmt"
	"strings"
	"testing"

	_ "cardea.dev/internal/base/document/yamltext"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/decide/rolepaths"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/packs"
)

const project = "/home/u/p"

// role returns the decider of a role, with the built-in definitions and those of a file.
func role(t testing.TB, name, file string, scope cardea.Scope, trusted bool) *rolepaths.Decider {
	t.Helper()
	src, problems := roles.Read("roles.yaml", scope, document.Read("roles.yaml", []byte(file)), packs.Roles().Categories...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	src.Trusted = trusted
	only := func(_ *cardea.Event, p *cardea.Part, covered func(*cardea.Access) bool) bool {
		for k := range p.Access {
			if !covered(&p.Access[k]) {
				return false
			}
		}
		return p.Knowledge == cardea.Complete
	}
	return rolepaths.New(rolepaths.Options{Role: roles.NewSet(src, packs.Roles()).Of(name), Home: "/home/u", OnlyTouches: only})
}

func writes(path string) cardea.Access { return cardea.Access{Kind: cardea.Write, Path: path} }

// decide returns the role's decision about a part, "" for no opinion.
func decide(t testing.TB, d *rolepaths.Decider, p cardea.Part) string {
	t.Helper()
	ev := &cardea.Event{Kind: cardea.PreToolUse, Project: project, Call: &cardea.Call{Tool: "Write", Known: true, Parts: []cardea.Part{p}}}
	ops, err := d.Decide(t.Context(), ev)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range ops {
		out = append(out, o.Effect.String())
	}
	return strings.Join(out, " ")
}

// TestSeedRoles compares the twelve roles with paths that their definitions name.
func TestSeedRoles(t *testing.T) {
	for name, want := range map[string]string{
		"coder": "+src/a.ts +lib/x/y +package.json +sub/go.mod +requirements-dev.txt -tests/a -src/a.test.ts -pkg/a_test.go " +
			"-docs/a.md -.github/workflows/x.yml -main.tf -x/prod.tfvars ?Makefile ?README.md",
		"tester":     "+tests/a +a.spec.js +pkg/a_test.go +test_x.py +pkg/test_x.py +pytest.ini -src/a.ts -src/a.test.ts -docs/a -.github/x -x.tf ?package.json",
		"integrator": "+main.tf +x/y.hcl +helm/a +.terraform.lock.hcl -src/a -tests/a -docs/a -.github/a ?Makefile",
		"devops": "+.github/workflows/a.yml +.gitlab-ci.yml +Dockerfile.dev +docker-compose.yml +Makefile +.eslintrc.json +.babelrc " +
			"+tsconfig.build.json +.husky/pre-commit -src/a -lib/Makefile -tests/a -docs/a -x.tf ?package.json",
		"researcher":        "+docs/research/a.md -src/a -tests/a -.github/a -a.tf ?docs/plans/a.md",
		"architect":         "+docs/architecture/a +docs/adr/1.md -lib/a ?docs/research/a",
		"planner":           "+docs/plans/a.md -src/a ?docs/adr/1.md",
		"reviewer":          "+docs/reviews/a.md -docs/reviews/security/a.md -src/a ?docs/a.md",
		"security-reviewer": "+docs/reviews/security/a.md -docs/reviews/a.md -src/a ?docs/a.md",
		"docs":              "+docs/a +README.md +x/y.md +LICENSE -src/a.md -tests/a.md -.github/a.md ?package.json",
		"maintainer":        "+src/a +tests/a +.github/a +x",
		"troubleshooter":    "+src/a +tests/a +docs/a",
	} {
		d := role(t, name, "roles: {}", cardea.ScopeUser, true)
		for _, w := range strings.Fields(want) {
			got := decide(t, d, cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(project + "/" + w[1:])}}})
			if expected := map[byte]string{'+': "allow", '-': "deny", '?': ""}[w[0]]; got != expected {
				t.Errorf("%s writes %s: %q, want %q", name, w[1:], got, expected)
			}
		}
		if got := decide(t, d, cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Read, Path: project + "/src/a"}}}}); got != "allow" {
			t.Errorf("%s reads: %q", name, got)
		}
		for _, outside := range []string{"/etc/passwd", "/home/u/src/a.ts", "/home/u/pp/src/a"} {
			if got := decide(t, d, cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(outside)}}}); got != "" {
				t.Errorf("%s writes %s: %q", name, outside, got)
			}
		}
	}
}

// TestWhatRolesNeverAllow tests that roles allow only reads, and writes of known single
// files.
func TestWhatRolesNeverAllow(t *testing.T) {
	coder := role(t, "coder", "roles: {}", cardea.ScopeUser, true)
	words := []cardea.Word{{Text: "x", Static: true}}
	in := project + "/src/a"
	for _, c := range []struct {
		name string
		part cardea.Part
		want string
	}{
		{"a command that writes a file", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{writes(in)}},
		}, "allow"},
		{"delete", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Delete, Path: in}}},
		}, ""},
		{"execute", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Execute, Path: in}}},
		}, "defer"},
		{"network", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Network, Host: "x"}, writes(in)}},
		}, ""},
		{"a folder as a whole", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Write, Path: project + "/src", Recursive: true}}},
		}, ""},
		{"a pattern", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Write, Path: project + "/src", Pattern: in + "*", Glob: true}}},
		}, "ask"},
		{"a word that is not known", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: append(words, cardea.Word{Text: "$x"})},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{writes(in)}},
		}, ""},
		{"an opaque spot", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words, Opaque: []cardea.Opaque{{}}},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{writes(in)}},
		}, ""},
		{"a program that is not known", cardea.Part{ShellFacts: cardea.ShellFacts{Argv: words}}, "defer"},
		{"a program that may do more", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(in), {Kind: cardea.Unknown}}},
		}, "defer"},
		{"a program that runs a script", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Execute, Path: in}}},
		}, "defer"},
		{"a path that is not known", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{writes("")}},
		}, "defer"},
		{"an access that is not known", cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Unknown}}}}, "defer"},
		{"a folder with a denied one in it", cardea.Part{ShellFacts: cardea.ShellFacts{Argv: words}, CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(project)}}}, "defer"},
		{"a folder above the project", cardea.Part{ShellFacts: cardea.ShellFacts{Argv: words}, CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes("/home")}}}, "defer"},
		{"a folder without one", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(project + "/build")}},
		}, ""},
		{"nothing at all", cardea.Part{ShellFacts: cardea.ShellFacts{Argv: words, NoEffect: true}}, ""},
		{"by another name", cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Write, Path: in, Spelled: "/tmp/link"}}}}, ""},
		{"by another name that is denied", cardea.Part{
			CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Write, Path: in, Spelled: project + "/tests/link"}}},
		}, "deny"},
		{"through a link that is denied", cardea.Part{
			CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Write, Path: project + "/tests/x", Spelled: in}}},
		}, "deny"},
		{"in other letters", cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(project + "/Tests/x")}}}, "deny"},
		{"deletes a folder above", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Delete, Path: project + "/docs", Recursive: true}}},
		}, "deny"},
		{"a pattern that may name it", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Delete, Path: project, Pattern: project + "/t*/x", Glob: true}}},
		}, "ask"},
		{
			"a pattern that names it alone",
			cardea.Part{
				ShellFacts:   cardea.ShellFacts{Argv: words},
				CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{{Kind: cardea.Delete, Path: project + "/tests", Pattern: project + "/tests/*.ts", Glob: true}}},
			},
			"deny",
		},
		{"on another machine", cardea.Part{
			ShellFacts:   cardea.ShellFacts{Argv: words, Remote: true},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete, Access: []cardea.Access{writes(project + "/tests/x")}},
		}, ""},
	} {
		if got := decide(t, coder, c.part); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	maintainer := role(t, "maintainer", "roles: {}", cardea.ScopeUser, true)
	if got := decide(t, maintainer, cardea.Part{ShellFacts: cardea.ShellFacts{Argv: words}}); got != "" {
		t.Errorf("who may write everything: %q", got)
	}
}

// TestDefinitionsOfFiles tests that files redefine built-in roles, and that an untrusted
// one only denies.
func TestDefinitionsOfFiles(t *testing.T) {
	file := `categories: {tests: ["spec/**"], new: [a/]}
roles:
  coder: {description: x, paths: {allow_write: ["**"], deny_write: ["{{tests}}", "{{new}}"], deny_read: [vault]}}
  own: {paths: {allow_write: [out/]}}
`
	at := func(p string) cardea.Part {
		return cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(project + "/" + p)}}}
	}
	reads := cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Read, Path: project + "/x/vault/y"}}}}
	for _, c := range []struct {
		role    string
		trusted bool
		part    cardea.Part
		want    string
	}{
		{"coder", true, at("tests/x"), "allow"}, {"coder", true, at("spec/x"), "deny"}, {"coder", true, at("a/b/c"), "deny"}, {"coder", true, reads, "deny"},
		{"coder", false, at("tests/x"), "deny"}, {"coder", false, at("spec/x"), "deny"}, {"coder", false, at("other"), ""}, {"coder", false, reads, "deny"},
		{"own", true, at("out/x/y"), "allow"}, {"own", true, at("out"), "allow"}, {"own", false, at("out/x"), ""},
		// The category that the project redefined also applies to the built-in roles.
		{"tester", true, at("spec/x"), "allow"}, {"tester", true, at("tests/x"), ""}, {"tester", false, at("tests/x"), "allow"},
	} {
		d := role(t, c.role, file, cardea.ScopeProject, c.trusted)
		if got := decide(t, d, c.part); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s, trusted %v, %v: %q, want %q", c.role, c.trusted, c.part.Access, got, c.want)
		}
	}
}

// BenchmarkCheckRolePaths decides a write for a role with 40 globs.
func BenchmarkCheckRolePaths(b *testing.B) {
	var list []string
	for i := range 10 {
		list = append(list, fmt.Sprintf("'folder%d/**'", i), fmt.Sprintf("'*.kind%d.*'", i))
	}
	globs := strings.Join(list, ", ")
	d := role(b, "many", "roles: {many: {paths: {allow_write: ['src/**', "+globs+"], deny_write: ["+globs+"]}}}", cardea.ScopeUser, true)
	ev := &cardea.Event{Kind: cardea.PreToolUse, Project: project, Call: &cardea.Call{Tool: "Write", Known: true,
		Parts: []cardea.Part{{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{writes(project + "/src/deep/down/file.ts")}}}}}}
	b.ReportAllocs()
	for b.Loop() {
		if ops, err := d.Decide(b.Context(), ev); err != nil || len(ops) != 1 || ops[0].Effect != cardea.Allow {
			b.Fatal(ops, err)
		}
	}
}
